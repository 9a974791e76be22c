"""Tables in drawings: cells with texts and bars, in columns of given widths."""

from collections.abc import Sequence
from typing import NamedTuple

from llmarena_envs.core.sheet import INNER, MARGIN, Block, badge_width, draw_badge
from llmarena_envs.core.svg import DIM, INK, LINE, SOFT, Svg
from llmarena_envs.core.wrapping import wrapped

_SIZE = 13
_LINE = 17
_PAD = 6


class Bar(NamedTuple):
    """A bar behind the text of a cell.

    Attributes:
        share: share of the cell's width, 0 to 1.
        colour: a colour light enough for the text on it.
    """

    share: float
    colour: str


LIGHT, STRONG = "#ddf4ff", "#80ccff"
"""Colours of bars; the second can be drawn on the first."""


class Cell(NamedTuple):
    """A cell of a table.

    Attributes:
        text: the text, of one or more lines.
        bars: bars behind the first line of the text, later ones on top.
        seat: the seat's colour if the text is the name of a seat; empty for other texts.
        bold: whether the text is bold.
        lines: maximum number of lines.
    """

    text: str = ""
    bars: tuple[Bar, ...] = ()
    seat: str = ""
    bold: bool = False
    lines: int = 1


class Table(Block):
    """Rows of cells.

    Args:
        header: column names; empty for no header.
        rows: the cells, one per column.
        widths: relative widths of the columns.
    """

    def __init__(self, header: Sequence[str], rows: Sequence[Sequence[Cell]], widths: Sequence[float]) -> None:
        total = sum(widths)
        self._widths = [INNER * width / total for width in widths]
        self._header = [self._lines(Cell(name, bold=True, lines=2), column) for column, name in enumerate(header)]
        self._rows = rows
        self._texts = [[self._lines(cell, column) for column, cell in enumerate(row)] for row in rows]
        self._top = _LINE * max(map(len, self._header)) + 8 if header else 0
        self._heights = [_LINE * max(map(len, row)) + 8 for row in self._texts]
        self.height = self._top + sum(self._heights)
        rows_in_words = [_in_words(row) for row in [self._header, *self._texts]]
        self.words = "; ".join(filter(None, rows_in_words))

    def _lines(self, cell: Cell, column: int) -> list[str]:
        width = self._widths[column] - 2 * _PAD
        return wrapped(cell.text, width, _SIZE, cell.lines, bold=cell.bold)

    def draw(self, svg: Svg, y: float) -> None:
        """Draws the rows."""
        if self._header:
            svg.rect(MARGIN, y, INNER, self._top, fill=SOFT)
            x: float = MARGIN
            for width, lines in zip(self._widths, self._header, strict=True):
                for number, line in enumerate(lines):
                    svg.text(x + _PAD, y + 16 + _LINE * number, line, _SIZE, fill=DIM, font_weight="bold")
                x += width
        y += self._top
        for height, cells, texts in zip(self._heights, self._rows, self._texts, strict=True):
            svg.line(MARGIN, y, MARGIN + INNER, y, stroke=LINE)
            x = MARGIN
            for width, cell, lines in zip(self._widths, cells, texts, strict=True):
                _draw_cell(svg, x, y, width, cell, lines)
                x += width
            y += height


def _in_words(row: Sequence[Sequence[str]]) -> str:
    """Returns a row as text; an empty cell becomes a dash, to keep the position of the others."""
    cells = [" ".join(lines) for lines in row]
    return ", ".join([cell or "-" for cell in cells]) if any(cells) else ""


def _draw_cell(svg: Svg, x: float, y: float, width: float, cell: Cell, lines: Sequence[str]) -> None:
    for bar in cell.bars:
        svg.rect(x + 2, y + 3, (width - 4) * min(1.0, max(0.0, bar.share)), _LINE + 2, fill=bar.colour, rx=3)
    if cell.seat and badge_width(lines[0]) <= width:
        draw_badge(svg, x + 2, y + 3, lines[0], cell.seat)
        lines = ["", *lines[1:]]
    weight = "bold" if cell.bold else None
    for number, line in enumerate(lines):
        if line:
            svg.text(x + _PAD, y + 16 + _LINE * number, line, _SIZE, fill=cell.seat or INK, font_weight=weight)


def name_width(names: Sequence[str]) -> float:
    """Returns the width, in pixels, of a column of name badges."""
    return max(map(badge_width, names)) + 6


def columns(names: Sequence[str], others: int) -> list[float]:
    """Returns the widths of a table with one column of names and ``others`` equal columns."""
    first = min(name_width(names), INNER / 3)
    return [first, *[(INNER - first) / others] * others]
