"""SVG drawings: shapes and texts for a page, a document or a separate file.

Only presentation attributes are written: no style sheets, scripts, references or ids. One page can therefore contain any number
of drawings under a strict content security policy. The same calls give the same bytes.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from xml.sax.saxutils import escape, quoteattr

from llmarena_envs.core.terminal import printable

INK = "#1f2328"
DIM = "#59636e"
LINE = "#d0d7de"
PAPER = "#ffffff"
SOFT = "#f6f8fa"

FONT = "system-ui, 'Noto Sans', 'Noto Sans CJK SC', sans-serif"
MONOSPACE = "ui-monospace, 'Noto Sans Mono', monospace"

MAX_LETTERS = 500
"""Maximum number of characters drawn of a line of text."""

MAX_DESCRIPTION = 10_000
"""Maximum number of characters of a description."""

CUT = "…"
"""Marks omitted text."""

BOLD = 1.1
"""Assumed width of bold letters relative to others."""

# Characters not allowed in XML 1.0: surrogates and two non-characters; control characters are escaped before.
_FORBIDDEN = re.compile("[\ud800-\udfff\ufffe\uffff]")

# Widths of characters in a wide common font (DejaVu Sans), as a share of the size; rounded up, as fonts differ.
_NARROW, _WIDE, _FULL, _OTHER = 0.42, 1.0, 1.0, 0.64
_WIDTHS = dict.fromkeys(map(ord, " !'(),./:;I[]fijlrt|"), _NARROW) | dict.fromkeys(map(ord, "%@MWm"), _WIDE)
_WIDTHS |= dict.fromkeys(map(ord, "ABCDEGHKNOPQRSTUVXYZw"), 0.8)
_FIXED = 0.61  # of a letter in a monospaced font


def visible(text: str) -> str:
    """Returns a text as one line, with unprintable and invalid XML characters made visible."""
    return _FORBIDDEN.sub("\ufffd", printable(text).replace("\n", " ").replace("\t", " "))


def xml_text(text: str) -> str:
    """Returns a text as one line of XML character data."""
    return escape(visible(text))


def cut(text: str, length: int) -> str:
    """Returns at most ``length`` characters of a text; a truncated text ends in an ellipsis."""
    return text if len(text) <= length else text[: length - 1] + CUT


def round_numbers(values: Iterable[float], ticks: int = 6, *, whole: bool = False) -> list[float]:
    """Returns about ``ticks`` evenly spaced round numbers that cover the finite values."""
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if high <= low:
        low, high = low - 0.5, high + 0.5
    rough = max((high - low) / (ticks - 1), 1 if whole else 0)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
    first = math.floor(low / step)
    count = math.ceil(high / step) - first
    return [(first + number) * step for number in range(count + 1)]


def text_width(text: str, size: float = 16, bold: bool = False) -> float:
    """Estimates the drawn width of a text, in pixels; conservative, because the reader's font is unknown."""
    parts = (text[place : place + MAX_LETTERS] for place in range(0, len(text), MAX_LETTERS))
    return sum(map(_width, parts)) * size * (BOLD if bold else 1)


def fixed_width(text: str, size: float = 16) -> float:
    """Estimates the drawn width of a text in a monospaced font, in pixels; full-width letters count as two."""
    return size * sum(
        [_FIXED if letter.isascii() else max(_FIXED, text_width(letter, 1)) for letter in printable(text)]
    )


def cut_to_width(text: str, width: float, size: float = 16, bold: bool = False) -> str:
    """Returns the beginning of a text that fits into ``width`` pixels; a truncated text ends in an ellipsis."""
    shown = printable(text[:MAX_LETTERS])
    if len(text) <= MAX_LETTERS and text_width(shown, size, bold) <= width:
        return text
    left = width - text_width(CUT, size, bold)
    for place, letter in enumerate(shown):
        left -= text_width(letter, size, bold)
        if left < 0:
            return shown[:place] + CUT
    return shown + CUT


@lru_cache(maxsize=4096)  # the same words and labels recur
def _width(text: str) -> float:
    return sum([_WIDTHS.get(code) or _letter_width(code) for code in map(ord, printable(text))])


@lru_cache(maxsize=4096)
def _letter_width(code: int) -> float:
    letter = chr(code)
    if unicodedata.combining(letter):
        return 0.0
    return _FULL if unicodedata.east_asian_width(letter) in "WFA" else _OTHER


class Svg:
    """A drawing; lengths are in pixels, (0, 0) is the top left corner.

    Args:
        width: width of the drawing.
        height: height of the drawing.
        title: short title, for screen readers.
        description: the position in words, for screen readers.
        fill: background colour; empty for a transparent background.
        small_print: whether it is illegible at half its size; pages for narrow screens scroll it instead.
    """

    def __init__(
        self,
        width: float,
        height: float,
        title: str,
        description: str = "",
        fill: str = PAPER,
        *,
        small_print: bool = False,
    ) -> None:
        self._small_print = "true" if small_print else None
        self.width = width
        self.height = height
        self._parts: list[str] = [f"<title>{xml_text(cut(title, MAX_LETTERS))}</title>"]
        if description:
            self._parts.append(f"<desc>{xml_text(cut(description, MAX_DESCRIPTION))}</desc>")
        if fill:
            self.rect(0, 0, width, height, fill=fill, rx=8)

    def rect(self, x: float, y: float, width: float, height: float, **attributes: object) -> None:
        """Adds a rectangle; keyword arguments are SVG attributes, with ``_`` for ``-``."""
        self._add("rect", x=x, y=y, width=width, height=height, **attributes)

    def circle(self, x: float, y: float, radius: float, **attributes: object) -> None:
        """Adds a circle around (x, y)."""
        self._add("circle", cx=x, cy=y, r=radius, **attributes)

    def line(self, x1: float, y1: float, x2: float, y2: float, **attributes: object) -> None:
        """Adds a line."""
        self._add("line", x1=x1, y1=y1, x2=x2, y2=y2, **{"stroke": INK, **attributes})

    def path(self, d: str, **attributes: object) -> None:
        """Adds a path."""
        self._add("path", d=d, **attributes)

    def text(self, x: float, y: float, text: str, size: float = 16, **attributes: object) -> None:
        """Adds a line of text that begins at (x, y) on the base line, or is centred there with ``text_anchor="middle"``.

        At most ``MAX_LETTERS`` characters are drawn.
        """
        given = {"x": x, "y": y, "font_size": size, "fill": INK, **attributes}
        self._parts.append(f"<text{_attributes(given)}>{_line(cut(text, MAX_LETTERS))}</text>")

    @contextmanager
    def group(self, reply: str = "", **attributes: object) -> Iterator[None]:
        """Groups the elements added inside the context.

        Args:
            reply: reply for a click on the group, also its tooltip; empty if it is not clickable.
            attributes: attributes of the group.
        """
        chosen = {"data_reply": reply, "cursor": "pointer"} if reply else {}
        self._parts.append(f"<g{_attributes({**chosen, **attributes})}>")
        if reply:
            self._parts.append(f"<title>{xml_text(cut(reply, MAX_LETTERS))}</title>")
        yield
        self._parts.append("</g>")

    def __str__(self) -> str:
        width, height = _number(self.width), _number(self.height)
        size = {"width": width, "height": height, "viewBox": f"0 0 {width} {height}"}
        attributes = _attributes(
            {
                "xmlns": "http://www.w3.org/2000/svg",
                **size,
                "role": "img",
                "font_family": FONT,
                "data_small_print": self._small_print,
            }
        )
        return f"<svg{attributes}>{''.join(self._parts)}</svg>"

    def _add(self, tag: str, **attributes: object) -> None:
        self._parts.append(f"<{tag}{_attributes(attributes)}/>")


# Successive drawings of a match have most elements in common.
_line = lru_cache(maxsize=4096)(xml_text)


def _attributes(values: dict[str, object]) -> str:
    return _written(tuple(values.items()))


@lru_cache(maxsize=16_384)
def _written(values: tuple[tuple[str, object], ...]) -> str:
    return "".join([_attribute(name, value) for name, value in values if value is not None])


@lru_cache(maxsize=4096)  # the same colours, sizes and positions recur
def _attribute(name: str, value: object) -> str:
    written = _number(value) if isinstance(value, int | float) else _FORBIDDEN.sub("\ufffd", printable(str(value)))
    return f" {name.replace('_', '-')}={quoteattr(written)}"


def _number(value: float) -> str:
    return f"{round(value, 2) + 0:g}"  # + 0 makes a negative zero a zero
