"""Pictures as SVG: shapes and texts that can stand in a page, in a document or in a file of their own.

Only presentation attributes are written: no style sheets, scripts, references or ids, so that any number of pictures may stand in
one page under a strict content security policy. The same calls give the same bytes.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from xml.sax.saxutils import escape, quoteattr

from llmarena_envs.core.terminal import printable

INK = "#1f2328"
DIM = "#59636e"
LINE = "#d0d7de"
PAPER = "#ffffff"
SOFT = "#f6f8fa"

FONT = "system-ui, 'Noto Sans', 'Noto Sans CJK SC', sans-serif"

# What XML 1.0 cannot hold: control characters are made visible before, surrogates and two non-characters remain.
_FORBIDDEN = re.compile("[\ud800-\udfff\ufffe\uffff]")


def xml_text(text: str) -> str:
    """Returns a text as one line of XML character data shows it: escaped, with what cannot be shown made visible."""
    visible = printable(text).replace("\n", " ").replace("\t", " ")
    return escape(_FORBIDDEN.sub("\ufffd", visible))


class Svg:
    """A picture to which shapes are added; lengths are pixels, (0, 0) is the top left corner.

    Args:
        width: of the picture.
        height: of the picture.
        title: what it is, in a few words; screen readers say it.
        description: the position in words, for screen readers.
    """

    def __init__(self, width: float, height: float, title: str, description: str = "") -> None:
        self.width = width
        self.height = height
        self._parts: list[str] = [f"<title>{xml_text(title)}</title>"]
        if description:
            self._parts.append(f"<desc>{xml_text(description)}</desc>")
        self.rect(0, 0, width, height, fill=PAPER, rx=8)

    def rect(self, x: float, y: float, width: float, height: float, **attributes: object) -> None:
        """Adds a rectangle; attributes are those of SVG, with ``_`` for ``-``."""
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
        """Adds a line of text whose base line begins at (x, y), or is centred there with ``text_anchor="middle"``."""
        given = {"font_family": FONT, "font_size": size, "fill": INK, **attributes}
        self._parts.append(f"<text{_attributes({'x': x, 'y': y, **given})}>{xml_text(text)}</text>")

    @contextmanager
    def group(self, reply: str = "", **attributes: object) -> Iterator[None]:
        """Groups what is added within.

        Args:
            reply: the reply that a player gives who points at the group; nothing if it cannot be pointed at.
            attributes: of the group.
        """
        chosen = {"data_reply": reply, "cursor": "pointer"} if reply else {}
        self._parts.append(f"<g{_attributes({**chosen, **attributes})}>")
        yield
        self._parts.append("</g>")

    def __str__(self) -> str:
        width, height = _number(self.width), _number(self.height)
        size = {"width": width, "height": height, "viewBox": f"0 0 {width} {height}"}
        attributes = _attributes({"xmlns": "http://www.w3.org/2000/svg", **size, "role": "img"})
        return f"<svg{attributes}>{''.join(self._parts)}</svg>"

    def _add(self, tag: str, **attributes: object) -> None:
        self._parts.append(f"<{tag}{_attributes(attributes)}/>")


def _attributes(values: dict[str, object]) -> str:
    return "".join(f" {name.replace('_', '-')}={_value(value)}" for name, value in values.items() if value is not None)


def _value(value: object) -> str:
    if isinstance(value, int | float):
        return f'"{_number(value)}"'
    return quoteattr(_FORBIDDEN.sub("\ufffd", printable(str(value))))


def _number(value: float) -> str:
    return f"{round(value, 2):g}"
