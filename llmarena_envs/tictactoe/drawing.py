"""Draws tic-tac-toe."""

from collections.abc import Mapping

from llmarena_envs.core.board import EMPTY, BoardView
from llmarena_envs.core.board_drawing import MARGIN, BoardDrawing
from llmarena_envs.core.svg import DIM, INK, LINE, PAPER, Svg

_COLOURS = {"X": "#cf222e", "O": "#0969da"}
_LAST = "#fff3c4"
_NAMES = 24
"""Size of the row and column numbers."""


class TicTacToeDrawing(BoardDrawing):
    """Draws crosses and rings, the last one on yellow in a dark frame; clickable free cells are dashed."""

    package = "llmarena_envs.tictactoe"
    rows = 3
    columns = 3
    line = 3
    cell = 112
    left = MARGIN + _NAMES
    top = _NAMES

    def draw_board(self, svg: Svg, view: BoardView, replies: Mapping[int, str]) -> None:
        """Adds the numbers of rows and columns, and the cells."""
        last, inner = self.last_cell(view), self.cell - 8
        for number in range(3):
            x, y = self.corner(number, number)
            svg.text(x + self.cell / 2, self.corner(0, 0)[1] - 6, str(number + 1), 15, fill=DIM, text_anchor="middle")
            svg.text(self.left - 10, y + self.cell / 2 + 5, str(number + 1), 15, fill=DIM, text_anchor="middle")
        for cell, mark in enumerate(view.board):
            x, y = self.corner(*divmod(cell, 3))
            reply = replies.get(cell, "")
            with svg.group(reply):
                edge = {"stroke": _COLOURS[view.mark], "stroke_dasharray": "5 5"} if reply else {"stroke": LINE}
                if cell == last:
                    edge = {"stroke": INK}
                fill = _LAST if cell == last else PAPER
                svg.rect(x + 4, y + 4, inner, inner, rx=8, fill=fill, stroke_width=2, **edge)
                if mark != EMPTY:
                    self.draw_mark(svg, *self.centre(cell), mark, self.cell)

    def draw_mark(self, svg: Svg, x: float, y: float, mark: str, size: float) -> None:
        """Adds a cross or a ring."""
        reach, width = size * 0.25, size * 0.11
        if mark == "X":
            d = f"M{x - reach:g} {y - reach:g}l{2 * reach:g} {2 * reach:g}m0 {-2 * reach:g}l{-2 * reach:g} {2 * reach:g}"
            svg.path(d, fill="none", stroke=_COLOURS["X"], stroke_width=width, stroke_linecap="round")
        else:
            svg.circle(x, y, reach, fill="none", stroke=_COLOURS["O"], stroke_width=width)

    def last_cell(self, view: BoardView) -> int | None:
        """Returns the cell taken last."""
        return view.moves[-1] if view.moves else None
