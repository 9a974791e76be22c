"""Shared parts of the two board games: two marks on a rectangular board that both players see in full."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from operator import getitem
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.phrases import Phrases
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.reading.grammar import Seats
from llmarena_envs.core.replies import Grammar, find

MARKS = "XO"
EMPTY = "_"

# ``bytes.translate`` table for each mark: ones for the mark, zeros for everything else.
_ONE_WHERE = {mark: bytes(int(code == ord(mark)) for code in range(256)) for mark in MARKS}


class BoardView(NamedTuple):
    """The view of a player of a board game: the full position.

    Attributes:
        agent: the player.
        to_move: whether the player is to move.
        legal: the legal actions if the player is to move.
        mark: the player's own mark, ``"X"`` or ``"O"``.
        board: one character per cell, ``X``, ``O`` or ``_``, row by row from the top left.
        moves: the actions played, in order; X played the first.
    """

    agent: str
    to_move: bool
    legal: tuple[int, ...]
    mark: str
    board: str
    moves: tuple[int, ...]


def other_mark(mark: str) -> str:
    """Returns the opponent's mark."""
    return "O" if mark == "X" else "X"


def encode_marks(view: BoardView, rows: int, columns: int) -> NDArray[np.int8]:
    """Returns the planes of own and opponent's marks, ``int8`` of shape (rows, columns, 2)."""
    cells = view.board.encode()
    planes = bytearray(2 * len(cells))
    planes[0::2] = cells.translate(_ONE_WHERE[view.mark])
    planes[1::2] = cells.translate(_ONE_WHERE[other_mark(view.mark)])
    return np.frombuffer(planes, dtype=np.int8).reshape(rows, columns, 2)


def _mark_of(name: str) -> str:
    return name.upper() if len(name) == 1 else MARKS[int(name[-1]) % 2]


SEATS = Seats(
    r"(?:[XO](?![A-Za-z0-9])|player[ \t_\-]{0,4}[01](?!\d))", ("mark", "player", "symbol", "piece", "agent"), _mark_of
)
"""Players of a board game are named by their marks or by their names."""


class BoardCodec(Codec[int, BoardView]):
    """Texts of a board game; a subclass defines the grammar of a move.

    Attributes:
        grammar: grammar of a move in a reply; its value is the action.

    Args:
        package: the game's package, which holds the prompts.
        language: language of the texts.
        hint: whether the legal moves are listed.
        action_names: name of each action in texts, e.g. ``(1, 3)``.
        max_turns: maximum number of turns of a match.
    """

    grammar: ClassVar[Grammar[int]]

    def __init__(self, package: str, language: str, hint: bool, action_names: tuple[str, ...], max_turns: int) -> None:
        self._prompts = prompts = Prompts(package, language)
        self.language = language
        self._names = action_names
        self._moves = tuple(tuple(f"{mark}: {name}" for name in action_names) for mark in MARKS)
        self._moves_by_ply = self._moves * (max_turns // 2 + 1)
        self._published = {
            mark: {move: action for action, move in enumerate(moves)}
            for mark, moves in zip(MARKS, self._moves, strict=True)
        }
        self._rules = prompts.render("rules")
        self._no_moves = prompts.render("no_moves")
        self._observation = prompts["observation"].by_position("mark", "moves", "board")
        self._update = prompts["update"].by_position("moves", "board")
        self._hint = prompts["hint"] if hint else None
        self._hints = Phrases(self._hint_text)
        instruction = prompts["instruction"]
        self._instructions = {
            mark: tuple(instruction.render(mark=mark, example=name) for name in action_names) for mark in MARKS
        }
        reminder = prompts["reminder"]
        self._reminders = {
            mark: tuple(reminder.render(mark=mark, example=name) for name in action_names) for mark in MARKS
        }
        self._wait = prompts.render("wait")
        self._line = prompts["line"]
        self._full = prompts.render("full")
        self._ends = ending_texts(language)
        self._over = Phrases(self._over_text)

    @abstractmethod
    def board_text(self, board: str) -> str:
        """Returns the board in lines."""

    def rules(self, agent: str) -> str:
        """Returns the rules."""
        return self._rules

    def observation(self, view: BoardView) -> str:
        """Returns moves, board, legal moves and the instruction."""
        return f"{self._position(view)}\n{self._task(view, self._instructions)}"

    def update(self, view: BoardView, since: BoardView) -> str:
        """Returns the new moves, board, legal moves and the form of an answer."""
        return f"{self._change(view, len(since.moves))}\n{self._task(view, self._reminders)}"

    def _task(self, view: BoardView, instructions: Mapping[str, Sequence[str]]) -> str:
        """Returns the legal moves if they are listed, and the instruction with an example move."""
        if not view.to_move:
            return self._wait
        legal = view.legal
        return f"{self._hints[legal]}{instructions[view.mark][_example_action(legal, len(view.moves))]}"

    def ending(self, view: BoardView, ending: Ending) -> str:
        """Returns moves, board and the result of the game."""
        return f"{self._position(view)}\n{self._over[view.agent, view.mark, ending]}"

    def _position(self, view: BoardView) -> str:
        moves = ", ".join(self._named(view))
        return self._observation(view.mark, moves or self._no_moves, self.board_text(view.board))

    def _change(self, view: BoardView, told: int) -> str:
        """Returns the moves after the first ``told``, and the board."""
        moves = ", ".join(self._named(view)[told:])
        return self._update(moves or self._no_moves, self.board_text(view.board))

    def _named(self, view: BoardView) -> list[str]:
        """Returns all moves with their marks."""
        return [*map(getitem, self._moves_by_ply, view.moves)]

    def _over_text(self, key: tuple[str, str, Ending]) -> str:
        """Returns the cause of the end and the result."""
        reader, own, (reward, offenders) = key
        other = other_mark(own)
        if offenders:
            cause = self._ends.forfeit(own, [own if agent == reader else other for agent in offenders])
        elif reward:
            cause = self._line.render(mark=own if reward > 0 else other)
        else:
            cause = self._full
        return self._ends.over(cause, self._ends.contest(reward))

    def _hint_text(self, legal: tuple[int, ...]) -> str:
        """Returns a line with the legal moves if they are listed."""
        return (
            f"{self._hint.render(legal=', '.join([self._names[action] for action in legal]))}\n" if self._hint else ""
        )

    def example(self, view: BoardView) -> str:
        """Returns a legal move, the same as in the instruction."""
        return self.format(_example_action(view.legal or (0,), len(view.moves)), view)

    def read(self, reply: str, view: BoardView) -> int:
        """Parses ``X: (1, 3)`` and similar forms; the mark is optional."""
        action = self._published[view.mark].get(reply)
        return find(reply, self.grammar, view.mark).value if action is None else action

    def explain(self, reason: Reason, view: BoardView) -> str:
        """Returns the text of a reason, with the mark as the player's name."""
        return super().explain(reason._replace(fields={"mark": view.mark, **reason.fields}), view)

    def format(self, action: int, view: BoardView) -> str:
        """Writes mark and move, e.g. ``X: (1, 3)``."""
        return self._moves[MARKS.index(view.mark)][action]

    def picture(self, game: Any) -> str:
        """Draws the board."""
        return self.board_text(game.board)


def _example_action(legal: tuple[int, ...], plies: int) -> int:
    """Returns a legal action as an example of the form of a move.

    Players prefer the move in the example. It therefore rotates with the number of moves played, so the example does not
    depend on the strength of a move.
    """
    return legal[plies % len(legal)]
