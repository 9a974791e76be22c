"""Figures as they leave the program: as SVG in a page, and as SVG and PNG in a directory of their own.

The same figures give the same bytes on one machine: no date, no random ids. Files bear the mark of this module, by which those of
an earlier report are known; any other file is left alone.
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
"""Stands in the metadata of every file."""

_MARKED = (f"<dc:title>{_MARK}</dc:title>".encode(), f"tEXtSoftware\0{_MARK}".encode())
"""How it stands there, in SVG and in PNG."""

_HEAD = 4096
"""Bytes within which it does."""

_SVG_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "llmarena", "font.sans-serif": ["DejaVu Sans"]}

_FURTHER_FONTS = (
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
)
"""From which a PNG takes Chinese letters, where the machine has one of them."""

_LONGEST_NAME = 80
"""Characters of the name of an environment in a file's name."""


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure.

    Attributes:
        environment: whose it is.
        what: what it shows, in a word or two; a part of its file's name.
        label: the same in words.
        figure: as Matplotlib has it.
    """

    environment: str
    what: str
    label: str
    figure: Figure = field(repr=False)

    @cached_property
    def svg(self) -> str:
        """The drawing without an XML header, ready to stand in a page."""
        text = self._saved("svg", _SVG_STYLE, {"Date": None, "Creator": _MARK}).decode()
        return text[text.index("<svg") :]

    def markup(self) -> Markup:
        """Returns the drawing with what is said of it, for a page."""
        label = escape(visible(f"{self.environment}: {self.label}"))
        return Markup(self.svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1))

    def svg_file(self) -> bytes:
        """Returns the drawing as a file of its own."""
        return f'<?xml version="1.0" encoding="utf-8"?>\n{self.svg}'.encode()

    def png_file(self) -> bytes:
        """Returns the drawing as pixels, ``DPI`` an inch."""
        installed = set(font_manager.fontManager.get_font_names())
        self._use_fonts(["DejaVu Sans", *(name for name in _FURTHER_FONTS if name in installed)])
        try:
            return self._saved("png", {}, {"Software": _MARK})
        finally:
            self._use_fonts(["sans-serif"])

    def _use_fonts(self, names: list[str]) -> None:
        """Says which fonts letters are taken from: the first of them that has a letter."""
        for text in self.figure.findobj(Text):
            text.set_fontfamily(names)

    def _saved(self, form: str, settings: Mapping[str, object], metadata: dict[str, str | None]) -> bytes:
        file = io.BytesIO()
        with style.context(["default", settings]), _quiet():
            self.figure.savefig(file, format=form, dpi=DPI if form == "png" else 72, metadata=metadata)
        return file.getvalue()


@contextmanager
def _quiet() -> Iterator[None]:
    """Lets nothing be said of letters that no font here has: in an SVG the reader's fonts count, in a PNG stands a box."""
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
    """Writes figures into a directory, which is made, and removes those of an earlier report.

    Args:
        plots: what is written, each as ``NAME.svg`` and ``NAME.png``.
        directory: where to.

    Returns:
        The paths of the files.

    Raises:
        RunError: if a file of somebody else has the name of one of them; then nothing is written.
        OSError: if the directory cannot be written.
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
        unfinished = directory / f".{name}.part"  # what has the name of a figure is whole
        unfinished.write_bytes(plot.svg_file() if name.endswith(".svg") else plot.png_file())
        unfinished.replace(directory / name)
    return [directory / name for name in files]


def file_names(plots: Sequence[Plot]) -> list[str]:
    """Returns a name for the files of each figure, without an ending: ``tictactoe_v0-ratings``.

    It has letters without accents, digits, and ``_ . -`` only, whatever environments are called; where two would be called the
    same, even where capitals do not count, the later one has a number.
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
    """Returns the names of those files of a directory that an earlier report wrote."""
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
