"""Draws connect four."""

from collections.abc import Mapping

from llmarena_envs.connect_four.game import COLUMNS, ROWS
from llmarena_envs.core.board import EMPTY, BoardView
from llmarena_envs.core.board_drawing import MARGIN, BoardDrawing
from llmarena_envs.core.svg import DIM, INK, PAPER, Svg

_FRAME = "#0a53a8"
_HOLE = "#eaf2fb"
_COLOURS = {"X": ("#cf222e", PAPER, "#a40e26"), "O": ("#f2c744", INK, "#b8860b")}
"""Fill, letter and rim colours of each player's discs."""

_NAMES = 30
"""Height of the line of column numbers."""


class ConnectFourDrawing(BoardDrawing):
    """Draws the frame and discs: X is red, O yellow, and the last disc has a ring."""

    package = "llmarena_envs.connect_four"
    rows = ROWS
    columns = COLUMNS
    line = 4
    cell = 56
    left = MARGIN
    top = _NAMES

    def draw_board(self, svg: Svg, view: BoardView, replies: Mapping[int, str]) -> None:
        """Adds the frame and all columns with numbers, holes and discs."""
        x, y = self.corner(0, 0)
        svg.rect(x, y, COLUMNS * self.cell, ROWS * self.cell, fill=_FRAME, rx=10)
        for column in range(COLUMNS):
            reply = replies.get(column, "")
            with svg.group(reply):
                self._draw_column(svg, view, column, _COLOURS[view.mark][0] if reply else "")
        last = self.last_cell(view)
        if last is not None:
            svg.circle(*self.centre(last), self.cell * 0.42, fill="none", stroke=PAPER, stroke_width=4)

    def _draw_column(self, svg: Svg, view: BoardView, column: int, colour: str) -> None:
        """Adds a column; a playable one is clickable and has an arrow in the mover's colour."""
        x, y = self.corner(0, column)
        middle = x + self.cell / 2
        if colour:
            svg.rect(x, y - _NAMES, self.cell, _NAMES + ROWS * self.cell, fill=PAPER, fill_opacity=0)
            svg.path(f"M{middle - 7:g} {y - 10:g}h14l-7 7z", fill=colour, stroke=INK)
        svg.text(middle, y - 14, str(column + 1), 15, fill=INK if colour else DIM, text_anchor="middle")
        for cell in range(column, ROWS * COLUMNS, COLUMNS):
            mark, centre = view.board[cell], self.centre(cell)
            if mark == EMPTY:
                svg.circle(*centre, self.cell * 0.4, fill=_HOLE)
            else:
                self.draw_mark(svg, *centre, mark, self.cell)

    def draw_mark(self, svg: Svg, x: float, y: float, mark: str, size: float) -> None:
        """Adds a disc with its letter."""
        disc, letter, rim = _COLOURS[mark]
        svg.circle(x, y, size * 0.39, fill=disc, stroke=rim, stroke_width=size * 0.04)
        svg.text(x, y + size * 0.12, mark, size * 0.34, fill=letter, text_anchor="middle", font_weight="bold")

    def last_cell(self, view: BoardView) -> int | None:
        """Returns the topmost disc of the column played last."""
        if not view.moves:
            return None
        column = view.moves[-1]
        return column + COLUMNS * view.board[column::COLUMNS].count(EMPTY)
