"""Writing of reports: the HTML page of a run or of log files, and its figures."""

import errno
import io
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

from rating.errors import RunError
from rating.play import run_directory
from rating.replacing import replacing_text
from rating.viewer.report.page import page_of
from rating.viewer.report.plots import write_plots
from rating.viewer.source import RunSource, Source, open_source

REPORT = "report.html"
"""File name of the report in a run directory."""


def write_report(directory: Path, path: Path) -> Path:
    """Writes the report of a run, see ``write_page_of``."""
    with open_source(directory) as source:
        return write_page_of(source, directory, path)


def write_page_of(source: Source, directory: Path, path: Path) -> Path:
    """Writes the report of a run or of log files, and its figures as files. Writes nothing if reading fails.

    Args:
        source: of the results.
        directory: run directory, or a log file.
        path: path of the page; the figures go to ``plots_directory``.

    Returns:
        The absolute path of the page.

    Raises:
        RunError: if the path is a link or not writable.
    """
    if path == directory / REPORT:
        beside = directory / "plots"
        run_directory.check_no_links([path, beside, *(beside.iterdir() if beside.is_dir() else ())])
    page = page_of(source)
    try:
        with replacing_text(path) as file:
            page.write(file)
        if (plots := plots_directory(directory, path)) is not None:
            write_plots(page.plots, plots)
    except OSError as error:
        if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise
        raise RunError(
            f"{path}: expected a place that can be written, got: {error.strerror}; name one with --output FILE"
        ) from error
    return path.resolve()


def plots_directory(directory: Path, path: Path) -> Path | None:
    """Returns the directory of a report's figures: ``DIR/plots``, or ``PAGE-plots`` for a page elsewhere.

    Args:
        directory: run directory, or a log file.
        path: path of the written page.

    Returns:
        ``None`` if the page is a pipe or a device.
    """
    path = path.resolve()
    if not path.is_file():
        return None
    is_usual = path == directory.resolve() / REPORT
    return path.with_name("plots" if is_usual else f"{path.stem}-plots")


def report_page(directory: Path, title: str, matches: Collection[str] | None = None) -> str:
    """Returns the report page of a run as HTML, with the given matches (ids) or by default all."""
    run, store = run_directory.open_run(directory)
    with closing(store):
        page = io.StringIO()
        page_of(RunSource(run, store, title), matches).write(page)
        return page.getvalue()
