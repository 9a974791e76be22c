"""Writing of reports: the HTML page of a run or of log files, and its figures."""

import errno
import io
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from rating.errors import RunError
from rating.play import run_directory
from rating.replacing import replacing_text
from rating.viewer.report.page import ShowProgress, page_of, unshown
from rating.viewer.report.plots import write_plots
from rating.viewer.source import RunSource, Source, open_source

REPORT = "report.html"
"""File name of the report in a run directory."""

PLOTS = "plots"
"""Name of the directory of figures in a run directory."""


class Written(NamedTuple):
    """Absolute path of a page, and paths of its figures as files."""

    page: Path
    plots: Sequence[Path]


def write_report(directory: Path, path: Path, show: ShowProgress = unshown) -> Path:
    """Writes the report of a run without its figures as files, and returns its absolute path; see ``write_page_of``."""
    with open_source(directory) as source:
        return write_page_of(source, directory, path, show=show).page


def write_page_of(
    source: Source, directory: Path, path: Path, plots: Path | None = None, show: ShowProgress = unshown
) -> Written:
    """Writes the report of a run or of log files. Writes nothing if reading fails.

    Args:
        source: of the results.
        directory: run directory, or a log file.
        path: path of the page.
        plots: directory for the figures as files; ``None`` to write none.
        show: called with the numbers of written matches and of all matches.

    Raises:
        RunError: if a path is a link, belongs to another file, or is not writable.
    """
    own = [path] if path == directory / REPORT else []
    if plots is not None and plots == directory / PLOTS:
        own += [plots, *(plots.iterdir() if plots.is_dir() else ())]
    run_directory.check_no_links(own)
    page = page_of(source, show=show)
    with _writable(path, "--output FILE"), replacing_text(path) as file:
        page.write(file)
    if plots is None:
        return Written(path.resolve(), [])
    with _writable(plots, "--plots FOLDER"):
        return Written(path.resolve(), write_plots(page.plots, plots))


@contextmanager
def _writable(path: Path, option: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM, errno.EEXIST, errno.ENOTDIR):
            raise
        raise RunError(
            f"{path}: expected a place that can be written, got: {error.strerror}; name one with {option}"
        ) from error


def report_page(directory: Path, title: str, matches: Collection[str] | None = None) -> str:
    """Returns the report page of a run as HTML, with the given matches (ids) or by default all."""
    run, store = run_directory.open_run(directory)
    with closing(store):
        page = io.StringIO()
        page_of(RunSource(run, store, title, directory), matches).write(page)
        return page.getvalue()
