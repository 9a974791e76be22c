"""``llmarena report``: the HTML report of a run or an import."""

import argparse
import errno
import io
import json
from collections.abc import Collection
from pathlib import Path

from llmarena_envs.core.options import OptionError
from rating.cli import flags
from rating.errors import RunError
from rating.play import run_directory
from rating.replacing import replacing_text
from rating.viewer.source import RunSource, open_source

REPORT = "report.html"
"""File name of the report in a run directory."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    flags.add_results(parser)
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="file to write (default: DIR/report.html); its figures stand beside it as SVG and PNG, in plots/, or FILE-plots/",
    )


def main(args: argparse.Namespace) -> None:
    """Writes the report of a run or an import and prints its path."""
    if args.dir.is_file() and not args.output:
        raise OptionError(f"{args.dir}: expected a directory to write the report into, got a log; say --output FILE")
    path = write_report(args.dir, args.output or args.dir / REPORT)
    plots = plots_directory(args.dir, path)
    if plots is not None and not any(plots.glob("*.svg")):  # no match with a counted result
        plots = None
    if args.json:
        print(json.dumps({"report": str(path), "plots": plots and str(plots)}))
    else:
        print(f"Report: {path}" + (f"\nPlots: {plots}" if plots else ""))


def write_report(directory: Path, path: Path) -> Path:
    """Writes the report of a run or an import, and its figures as files. Writes nothing if reading fails.

    Args:
        directory: run or import directory, or a log file.
        path: path of the page; the figures go to ``plots_directory``.

    Returns:
        The absolute path of the page.

    Raises:
        RunError: if the path is a link or not writable.
    """
    from rating.viewer.report.plots import write_plots  # matplotlib is slow to import

    if path == directory / REPORT:
        beside = directory / "plots"
        run_directory.check_no_links([path, beside, *(beside.iterdir() if beside.is_dir() else ())])
    with open_source(directory) as source:
        page = source.page()
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
        directory: run or import directory.
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
    with RunSource(*run_directory.open_run(directory), title) as source:
        page = io.StringIO()
        source.page(matches).write(page)
        return page.getvalue()
