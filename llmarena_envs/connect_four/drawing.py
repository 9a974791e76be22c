"""Pictures of connect four."""

from llmarena_envs.connect_four.game import COLUMNS, ROWS, ConnectFour
from llmarena_envs.connect_four.text import ConnectFourCodec
from llmarena_envs.core.board import EMPTY, BoardView
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.svg import DIM, Svg

CELL = 56
_MARGIN = 16
_NAMES = 28
"""Height of the line of column numbers."""

_FRAME = "#0969da"
_COLOURS = {"X": "#cf222e", "O": "#f2c744", EMPTY: "#ffffff"}


class ConnectFourDrawing(Drawing[BoardView]):
    """The board with its discs, both players' alike: X is red, O yellow, and the last disc has a ring.

    Args:
        codec: writes the replies that stand for a column.
    """

    def __init__(self, codec: ConnectFourCodec) -> None:
        self._codec = codec

    def seat(self, view: BoardView) -> str:
        """Draws the board; where the owner is to move, open columns can be pointed at."""
        return self._board(view, {move: self._codec.format(move, view) for move in view.legal if view.to_move})

    def spectator(self, game: ConnectFour) -> str:
        """Draws the board."""
        return self._board(game.view(game.agents[0]), {})

    def _board(self, view: BoardView, replies: dict[int, str]) -> str:
        width, height = COLUMNS * CELL, ROWS * CELL
        svg = Svg(
            width + 2 * _MARGIN,
            height + 2 * _MARGIN + _NAMES,
            "connect four",
            self._codec.board_text(view.board).replace("\n", "; "),
        )
        svg.rect(_MARGIN, _MARGIN + _NAMES, width, height, fill=_FRAME, rx=10)
        last = view.moves[-1] if view.moves else None
        for column in range(COLUMNS):
            x = _MARGIN + CELL * column + CELL / 2
            cells = view.board[column::COLUMNS]
            top = next((row for row in range(ROWS) if cells[row] != EMPTY), None)
            with svg.group(replies.get(column, "")):
                svg.text(x, _MARGIN + 18, str(column + 1), fill=DIM, text_anchor="middle")
                for row, mark in enumerate(cells):
                    y = _MARGIN + _NAMES + CELL * row + CELL / 2
                    svg.circle(x, y, CELL * 0.4, fill=_COLOURS[mark])
                    if mark != EMPTY:
                        svg.text(x, y + 6, mark, 18, text_anchor="middle", font_weight="bold")
                if column == last and top is not None:
                    y = _MARGIN + _NAMES + CELL * top + CELL / 2
                    svg.circle(x, y, CELL * 0.4, fill="none", stroke="#1f2328", stroke_width=3)
        return str(svg)
