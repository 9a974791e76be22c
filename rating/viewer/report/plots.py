"""Output of figures: SVG in a page, SVG and PNG files in a directory.

On one machine the output is deterministic: no dates, no random ids. A mark in the metadata identifies files of an earlier
report; other files are never changed.
"""

import io
import logging
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from markupsafe import Markup, escape
from matplotlib import font_manager, style
from matplotlib.figure import Figure
from matplotlib.text import Text

from llmarena_envs.core.svg import visible
from rating.errors import RunError

DPI = 150
"""Dots per inch of PNG files."""

_MARK = "llmarena report"
"""Mark in the metadata of every file."""

_MARKED = (f"<dc:title>{_MARK}</dc:title>".encode(), f"tEXtSoftware\0{_MARK}".encode())
"""The mark as encoded in SVG and in PNG."""

_HEAD = 4096
"""Bytes of a file to search for the mark."""

_SVG_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "llmarena", "font.sans-serif": ["DejaVu Sans"]}

_FURTHER_FONTS = (
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
)
"""Fonts for Chinese characters in PNG files, used if installed."""

_LONGEST_NAME = 80
"""Maximum characters of an environment name in a file name."""


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure.

    Attributes:
        environment: environment name.
        what: content in one or two words, part of the file name.
        label: content as a phrase.
        figure: Matplotlib figure.
    """

    environment: str
    what: str
    label: str
    figure: Figure = field(repr=False)

    @cached_property
    def svg(self) -> str:
        """The SVG without an XML header, for embedding in a page."""
        text = self._saved("svg", _SVG_STYLE, {"Date": None, "Creator": _MARK}).decode()
        return text[text.index("<svg") :]

    def markup(self) -> Markup:
        """Returns the SVG with an ARIA label, for a page."""
        label = escape(visible(f"{self.environment}: {self.label}"))
        return Markup(self.svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1))

    def svg_file(self) -> bytes:
        """Returns the contents of an SVG file."""
        return f'<?xml version="1.0" encoding="utf-8"?>\n{self.svg}'.encode()

    def png_file(self) -> bytes:
        """Returns the contents of a PNG file with ``DPI`` dots per inch."""
        installed = set(font_manager.fontManager.get_font_names())
        self._use_fonts(["DejaVu Sans", *(name for name in _FURTHER_FONTS if name in installed)])
        try:
            return self._saved("png", {}, {"Software": _MARK})
        finally:
            self._use_fonts(["sans-serif"])

    def _use_fonts(self, names: list[str]) -> None:
        """Sets the fonts of all texts, in order of preference."""
        for text in self.figure.findobj(Text):
            text.set_fontfamily(names)

    def _saved(self, form: str, settings: Mapping[str, object], metadata: dict[str, str | None]) -> bytes:
        file = io.BytesIO()
        with style.context(["default", settings]), _quiet():
            self.figure.savefig(file, format=form, dpi=DPI if form == "png" else 72, metadata=metadata)
        return file.getvalue()


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences warnings about missing glyphs: an SVG uses the viewer's fonts, a PNG shows a box."""
    log = logging.getLogger("matplotlib")
    level = log.level
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        log.setLevel(logging.ERROR)
        try:
            yield
        finally:
            log.setLevel(level)


def write_plots(plots: Sequence[Plot], directory: Path) -> list[Path]:
    """Writes figures into a directory, which is created, and removes figures of an earlier report.

    Args:
        plots: figures, each written as ``NAME.svg`` and ``NAME.png``.
        directory: output directory.

    Returns:
        The paths of the files.

    Raises:
        RunError: if a file of another origin has one of the names; then nothing is written.
        OSError: if the directory is not writable.
    """
    files = {
        f"{name}.{form}": plot for name, plot in zip(file_names(plots), plots, strict=True) for form in ("svg", "png")
    }
    earlier = _own_files(directory)
    if foreign := sorted(name for name in files if (directory / name).exists() and name not in earlier):
        raise RunError(
            f"{directory / foreign[0]}: expected a file that an earlier report wrote, or none, got another one; move it away"
        )
    for name in earlier - files.keys():
        (directory / name).unlink()
    if files:
        directory.mkdir(exist_ok=True)
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
