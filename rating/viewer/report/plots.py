"""Output of figures: SVG in a page, SVG and PNG files in a directory.

On one machine the output is deterministic: no dates, no random ids. A mark identifies files of an earlier report; other files are
never changed.
"""

import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from llmarena_envs.core.pixels import has_pictures, png_of
from rating.errors import RunError

_ZOOM = 150 / 96
"""Pixels of a PNG file per pixel of the figure: 150 dots per inch."""

_MARK = "llmarena report"
"""Mark in every file."""

_MARKED = (f"<!-- {_MARK} -->".encode(), f"tEXtSoftware\0{_MARK}".encode())
"""The mark as encoded in SVG and in PNG."""

_HEAD = 4096
"""Bytes of a file to search for the mark."""

_PNG_HEAD = 33
"""Bytes of a PNG file up to the end of its first chunk."""

_LONGEST_NAME = 80
"""Maximum characters of an environment name in a file name."""


@dataclass(frozen=True)
class Plot:
    """A figure.

    Attributes:
        environment: environment name.
        what: content in one or two words, part of the file name.
        svg: the figure.
    """

    environment: str
    what: str
    svg: str = field(repr=False)

    def markup(self) -> Markup:
        """Returns the SVG for a page."""
        return Markup(self.svg)

    def svg_file(self) -> bytes:
        """Returns the contents of an SVG file."""
        return b'<?xml version="1.0" encoding="utf-8"?>\n' + _MARKED[0] + f"\n{self.svg}\n".encode()

    def png_file(self) -> bytes:
        """Returns the contents of a PNG file with 150 dots per inch; needs the extra ``pictures``."""
        png = png_of(self.svg, _ZOOM)
        chunk = _MARKED[1]
        length, checksum = struct.pack(">I", len(chunk) - 4), struct.pack(">I", zlib.crc32(chunk))
        return png[:_PNG_HEAD] + length + chunk + checksum + png[_PNG_HEAD:]


def write_plots(plots: Sequence[Plot], directory: Path) -> list[Path]:
    """Writes figures into a directory, which is created, and removes figures of an earlier report.

    Args:
        plots: figures, each written as ``NAME.svg``, and as ``NAME.png`` if the extra ``pictures`` is installed.
        directory: output directory.

    Returns:
        The paths of the files.

    Raises:
        RunError: if a file of another origin has one of the names; then nothing is written.
        OSError: if the directory is not writable.
    """
    forms = ("svg", "png") if has_pictures() else ("svg",)
    files = {f"{name}.{form}": plot for name, plot in zip(file_names(plots), plots, strict=True) for form in forms}
    earlier = _own_files(directory)
    if foreign := sorted(name for name in files if (directory / name).exists() and name not in earlier):
        raise RunError(
            f"{directory / foreign[0]}: expected a file that an earlier report wrote, or none, got another one; move it away"
        )
    for name in earlier - files.keys():
        (directory / name).unlink()
    if files:
        directory.mkdir(parents=True, exist_ok=True)
    for name, plot in files.items():
        unfinished = directory / f".{name}.part"  # files with final names are always complete
        unfinished.write_bytes(plot.svg_file() if name.endswith(".svg") else plot.png_file())
        unfinished.replace(directory / name)
    return [directory / name for name in files]


def file_names(plots: Sequence[Plot]) -> list[str]:
    """Returns a file name without extension for each figure, e.g. ``tictactoe_v0-ratings``.

    Names contain only ASCII letters, digits and ``_ . -``. Numbers make them unique, ignoring case.
    """
    names: list[str] = []
    taken: set[str] = set()
    for plot in plots:
        environment = re.sub(r"[^A-Za-z0-9_.]+", "-", plot.environment[:_LONGEST_NAME]).strip("-.") or "environment"
        name = first = f"{environment}-{plot.what}"
        number = 1
        while name.lower() in taken:
            number += 1
            name = f"{first}-{number}"
        taken.add(name.lower())
        names.append(name)
    return names


def _own_files(directory: Path) -> set[str]:
    """Returns the names of files in a directory that an earlier report wrote."""
    if not directory.is_dir():
        return set()
    return {
        path.name
        for path in directory.iterdir()
        if path.suffix in (".svg", ".png") and path.is_file() and _is_marked(path)
    }


def _is_marked(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(_HEAD)
    return any(mark in head for mark in _MARKED)
