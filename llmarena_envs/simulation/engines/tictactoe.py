"""An opponent at tic-tac-toe that follows a fixed rule."""

import re
from typing import ClassVar

import numpy as np

from llmarena_envs.simulation.engines.engine import Engine, fault
from llmarena_envs.tictactoe.game import LINES, TicTacToe, free_cells
from llmarena_envs.tictactoe.text import CELL_NAMES, TicTacToeCodec

_CELL = re.compile(r"\(?\s*+(\d{1,9})\s*+,\s*+(\d{1,9})\s*+\)?", re.ASCII)
_PREFERRED = (4, 0, 2, 6, 8, 1, 3, 5, 7)
"""The centre, the corners, the sides, as one reads."""


def reply(board: str) -> int:
    """Returns the cell that O takes.

    The first in reading order that wins at once, else the first that keeps X from winning at once, else the centre, else the
    first corner, else the first side.
    """
    cells = free_cells(board)
    for mark in "OX":
        for cell in cells:
            after = board[:cell] + mark + board[cell + 1 :]
            if any(cell in line and all(after[place] == mark for place in line) for line in LINES):
                return cell
    return next(cell for cell in _PREFERRED if cell in cells)


class TicTacToeOpponent(Engine):
    """Plays O against a user who sends cells, e.g. ``(1, 3)``; also understands ``new`` and ``board``."""

    name: ClassVar[str] = "tictactoe"

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._game = TicTacToe()
        self._game.reset(np.random.default_rng(0))  # nothing is drawn without a random opening

    def respond(self, request: str) -> str:
        """Plays a move and its answer; returns O's move, the board and the player to move or the winner."""
        if unreadable := fault(request):
            return f"ERROR: {unreadable}"
        text = request.strip().lower()
        if text == "new":
            self._begin()
            return self.state()
        if text == "board":
            return self.state()
        match = _CELL.fullmatch(text)
        if match is None:
            return "ERROR: send a cell such as (1, 3), or new, or board"
        return self._play(int(match[1]), int(match[2]))

    def _play(self, row: int, column: int) -> str:
        game = self._game
        if not game.to_move:
            return "ERROR: the game is over, send new"
        if not (1 <= row <= 3 and 1 <= column <= 3):
            return f"ERROR: ({row}, {column}) is not on the board"
        cell = 3 * (row - 1) + column - 1
        if game.why_illegal("player_0", cell):
            return f"ERROR: ({row}, {column}) is taken"
        game.apply((cell,))
        if not game.to_move:
            return self.state()
        answer = reply(game.board)
        game.apply((answer,))
        return f"O: {CELL_NAMES[answer]}\n{self.state()}"

    def state(self) -> str:
        """Returns the board and the player to move or the winner."""
        over = {1: "X wins", -1: "O wins", 0: "draw"}
        standing = "X to move" if self._game.to_move else over[int(self._game.rewards[0])]
        return f"{TicTacToeCodec.board_text(self._game.board)}\n{standing}"
