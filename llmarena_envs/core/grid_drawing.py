"""Blocks of sheets that show a position: a board, and moves to click."""

from collections.abc import Mapping, Sequence

from llmarena_envs.core.grid import Grid
from llmarena_envs.core.sheet import INNER, MARGIN, Block
from llmarena_envs.core.svg import CUT, DIM, INK, LINE, PAPER, SOFT, Svg, text_width

_CELL = 40
_MIN_CELL = 14
_NAME_SIZE = 13
_CLICKABLE = "#0969da"
_STROKES = ("-", "|", "+")


class Board(Block):
    """A board.

    Args:
        grid: the board.
        replies: the replies of clickable places, by the names of their column and row together.
        most: maximum height of the places, in pixels.
    """

    def __init__(self, grid: Grid, replies: Mapping[str, str], most: float = 640) -> None:
        self._grid = grid
        self._replies = replies
        self._indents = grid.indents or (0,) * len(grid.rows)
        self._left = max((text_width(name, _NAME_SIZE) for name in grid.row_names), default=0) + 10
        columns = max(len(row) + indent / 2 for row, indent in zip(grid.rows, self._indents, strict=True))
        self._cell = max(_MIN_CELL, min(_CELL, (INNER - self._left) / columns, most / len(grid.rows)))
        self._names = 20 if grid.column_names else 0
        self.height = self._cell * len(grid.rows) + self._names
        self.words = grid.text().replace("\n", "; ")

    def draw(self, svg: Svg, y: float) -> None:
        """Draws the names and the places."""
        grid, cell = self._grid, self._cell
        top = y + (self._names if grid.indents else 0)
        names_at = y + 13 if grid.indents else y + self.height - 5
        for column, name in enumerate(grid.column_names):
            x = MARGIN + self._left + cell * (column + 0.5)
            svg.text(x, names_at, name, _NAME_SIZE, fill=DIM, text_anchor="middle")
        for number, (row, indent) in enumerate(zip(grid.rows, self._indents, strict=True)):
            middle = top + cell * (number + 0.5)
            if grid.row_names:
                right = MARGIN + self._left - 6
                svg.text(right, middle + 5, grid.row_names[number], _NAME_SIZE, fill=DIM, text_anchor="end")
            for column, text in enumerate(row):
                x = MARGIN + self._left + cell * (column + 0.5 + indent / 2)
                if text in _STROKES:
                    self._draw_stroke(svg, x, middle, text, row[column - 1] if column else "")
                elif text:
                    with svg.group(self._replies.get(self._name(number, column), "")):
                        self._draw_place(svg, x, middle, text, self._name(number, column) in self._replies)

    def _name(self, row: int, column: int) -> str:
        grid = self._grid
        return grid.column_names[column] + grid.row_names[row] if grid.row_names and grid.column_names else ""

    def _draw_stroke(self, svg: Svg, x: float, y: float, text: str, before: str) -> None:
        reach = self._cell / 2
        is_level = text == "-" or (text == "+" and before == "-")
        across, down = (reach, 0.0) if is_level else (0.0, reach)
        svg.line(x - across, y - down, x + across, y + down, stroke_width=max(2, self._cell / 8))

    def _draw_place(self, svg: Svg, x: float, y: float, text: str, is_clickable: bool) -> None:
        cell, grid = self._cell, self._grid
        edge = {"stroke": _CLICKABLE, "stroke_dasharray": "3 3"} if is_clickable else {"stroke": LINE}
        if grid.indents:
            svg.circle(x, y, cell * 0.47, fill=SOFT, **edge)
        else:
            svg.rect(x - cell / 2 + 1, y - cell / 2 + 1, cell - 2, cell - 2, fill=SOFT, **edge)
        if text == ".":
            return
        colour = INK
        if text in grid.dark or text in grid.light:
            is_dark = text in grid.dark
            svg.circle(x, y, cell * 0.42, fill=INK if is_dark else PAPER, stroke=INK)
            colour = PAPER if is_dark else INK
        size = min(cell * 0.5, cell * 0.72 / text_width(text, 1))
        svg.text(x, y + size * 0.36, text, size, fill=colour, text_anchor="middle")


class Choices(Block):
    """Texts to click.

    Args:
        choices: the texts, each with its reply.
        room: maximum height, in pixels.
    """

    _ROW = 28
    _SIZE = 13

    def __init__(self, choices: Sequence[tuple[str, str]], room: float) -> None:
        most = max(1, int(room // self._ROW))
        self._places: list[tuple[float, int, str, str]] = []
        x, row = 0.0, 0
        for text, reply in choices:
            width = self._width(text)
            if x and x + width > INNER:
                x, row = 0.0, row + 1
            if row == most:
                self._places[-1] = (*self._places[-1][:2], CUT, "")
                row -= 1
                break
            self._places.append((x, row, text, reply))
            x += width + 6
        self.height = self._ROW * (row + 1)
        self.words = ", ".join(text for _, _, text, _ in self._places)

    def _width(self, text: str) -> float:
        return min(INNER, text_width(text, self._SIZE) + 16)

    def draw(self, svg: Svg, y: float) -> None:
        """Draws a box with each text."""
        for x, row, text, reply in self._places:
            top = y + self._ROW * row
            with svg.group(reply):
                svg.rect(MARGIN + x, top, self._width(text), self._ROW - 6, fill=SOFT, stroke=_CLICKABLE, rx=6)
                svg.text(MARGIN + x + 8, top + 15.5, text, self._SIZE, fill=_CLICKABLE)
