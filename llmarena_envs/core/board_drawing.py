"""Drawings of board games: the players' marks, the last move, the winning line and the clickable moves."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from llmarena_envs.core.board import EMPTY, MARKS, BoardCodec, BoardView
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts, common_prompts
from llmarena_envs.core.svg import DIM, INK, LINE, SOFT, Svg, cut_to_width

MARGIN = 16
_HEADER = 46
_GAP = 12
_DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))

_SEATS = ("player_0", "player_1")


class BoardDrawing(Drawing[BoardView]):
    """Pictures of one board game, with the players above the board; the subclass draws the board.

    Args:
        codec: formats moves as replies.

    Attributes:
        package: the game's package, whose texts hold ``drawing_title``.
        rows: number of rows.
        columns: number of columns.
        line: number of marks in a row that wins.
        cell: width and height of a cell.
        left: left edge of the cells.
        top: top edge of the cells, measured from below the players.
    """

    package: ClassVar[str]
    rows: ClassVar[int]
    columns: ClassVar[int]
    line: ClassVar[int]
    cell: ClassVar[int]
    left: ClassVar[int]
    top: ClassVar[int]

    def __init__(self, codec: BoardCodec) -> None:
        self._codec = codec
        self._title = Prompts(self.package, codec.language).render("drawing_title")
        self._words = common_prompts(codec.language)

    @abstractmethod
    def draw_board(self, svg: Svg, view: BoardView, replies: Mapping[int, str]) -> None:
        """Adds the board; ``replies`` are the replies of the clickable moves."""

    @abstractmethod
    def draw_mark(self, svg: Svg, x: float, y: float, mark: str, size: float) -> None:
        """Adds a mark around (x, y), as large as in a cell of ``size`` pixels."""

    @abstractmethod
    def last_cell(self, view: BoardView) -> int | None:
        """Returns the cell of the last move, or ``None`` before the first."""

    def seat(self, view: BoardView) -> str:
        """Draws the board; legal moves are clickable if the owner is to move."""
        to_move = MARKS[len(view.moves) % 2]
        if to_move == view.mark and not view.to_move:
            to_move = ""  # the match is over
        return self._draw(
            view, {action: self._codec.format(action, view) for action in view.legal}, view.agent, to_move
        )

    def forfeited(self, view: BoardView, offenders: Sequence[str]) -> str:
        """Draws the board at the time of a forfeit."""
        return self._draw(view, {}, view.agent, "", offenders)

    def spectator(self, game: Any) -> str:
        """Draws the board."""
        to_move = MARKS[len(game.moves) % 2] if game.to_move else ""
        return self._draw(game.view(game.agents[0]), {}, "", to_move)

    def centre(self, cell: int) -> tuple[float, float]:
        """Returns the middle of a cell."""
        row, column = divmod(cell, self.columns)
        x = self.left + self.cell * (column + 0.5)
        return x, MARGIN + _HEADER + self.top + self.cell * (row + 0.5)

    def corner(self, row: int, column: int) -> tuple[float, float]:
        """Returns the top left corner of a cell."""
        return self.left + self.cell * column, MARGIN + _HEADER + self.top + self.cell * row

    def _draw(
        self, view: BoardView, replies: Mapping[int, str], reader: str, to_move: str, offenders: Sequence[str] = ()
    ) -> str:
        won = self._winning_line(view)
        if won or EMPTY not in view.board:
            to_move = ""
        states = {mark: self._state(mark, to_move, view, won) for mark in MARKS}
        for mark, seat in zip(MARKS, _SEATS, strict=True):
            if seat in offenders:
                states[mark] = self._words.render("drawing_forfeits")
        names = {
            mark: self._words.render("drawing_you", player=seat) if seat == reader else seat
            for mark, seat in zip(MARKS, _SEATS, strict=True)
        }
        told = [f"{mark}: {names[mark]} {states[mark]}".strip() for mark in MARKS]
        width = self.left + self.columns * self.cell + MARGIN
        height = MARGIN + _HEADER + self.top + self.rows * self.cell + MARGIN
        board = self._codec.board_text(view.board).split("\n")
        svg = Svg(width, height, self._title, "; ".join([*told, *board]))
        box = (width - 2 * MARGIN - _GAP) / 2
        for number, mark in enumerate(MARKS):
            self._draw_player(
                svg, MARGIN + number * (box + _GAP), box, mark, names[mark], states[mark], mark == to_move
            )
        self.draw_board(svg, view, replies)
        if won:
            (x1, y1), (x2, y2) = self.centre(won[0]), self.centre(won[-1])
            svg.line(x1, y1, x2, y2, stroke_width=self.cell / 9, stroke_linecap="round", stroke_opacity=0.6)
        return str(svg)

    def _draw_player(self, svg: Svg, x: float, width: float, mark: str, name: str, state: str, acts: bool) -> None:
        edge = {"stroke": INK, "stroke_width": 2} if acts else {"stroke": LINE}
        svg.rect(x, MARGIN - 4, width, _HEADER - 8, fill=SOFT, rx=8, **edge)
        self.draw_mark(svg, x + 20, MARGIN + 15, mark, 32)
        space = width - 44
        svg.text(x + 40, MARGIN + (12 if state else 20), cut_to_width(name, space, 13, True), 13, font_weight="bold")
        if state:
            svg.text(x + 40, MARGIN + 28, cut_to_width(state, space, 13), 13, fill=INK if acts else DIM)

    def _state(self, mark: str, to_move: str, view: BoardView, won: tuple[int, ...]) -> str:
        """Returns a player's state as a label."""
        if won:
            return self._words.render("drawing_wins") if view.board[won[0]] == mark else ""
        if EMPTY not in view.board:
            return self._words.render("drawing_draw")
        return self._words.render("drawing_to_move") if mark == to_move else ""

    def _winning_line(self, view: BoardView) -> tuple[int, ...]:
        """Returns the cells of a line through the last move that is long enough to win, or none."""
        last = self.last_cell(view)
        if last is None:
            return ()
        row, column = divmod(last, self.columns)
        for down, right in _DIRECTIONS:
            back = self._reach(view.board, row, column, -down, -right)
            ahead = self._reach(view.board, row, column, down, right)
            if back + ahead + 1 >= self.line:
                return tuple(
                    [(row + step * down) * self.columns + column + step * right for step in range(-back, ahead + 1)]
                )
        return ()

    def _reach(self, board: str, row: int, column: int, down: int, right: int) -> int:
        """Returns the number of equal marks that follow a cell in a direction."""
        mark = board[row * self.columns + column]
        for steps in range(1, self.line):
            y, x = row + steps * down, column + steps * right
            if not (0 <= y < self.rows and 0 <= x < self.columns and board[y * self.columns + x] == mark):
                return steps - 1
        return self.line - 1
