"""Games with enumerated actions: the listing, parsing and writing of legal moves by name."""

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game, ViewType
from llmarena_envs.core.replies import Grammar, find

MAX_LISTED = 100
"""Maximum number of legal moves in a text."""

MAX_PAST = 60
"""Maximum number of past moves in a text."""

_ESCAPED = {ord(symbol): chr(0xA500 + number) for number, symbol in enumerate("*_~`#>=|$\\{}[]()<\"'/,-+:; ")}
"""Symbols that the reading of replies takes for markup or punctuation, each with a rare letter in its place."""

_ENDS = re.compile(
    r"[*+#!?]*+(?:\s*+$|\s*+[.,;:!?)\]}\"'–—](?!\w)|\s++(?P<word>[a-z]{2,})\b|\s++(?:-\s|\((?=[A-Za-z]{2})))"
)
"""What may follow a stated move; another word only if it is no word of a move."""

Past = TypeVar("Past")
"""The type of a past move."""

Spellings = tuple[tuple[str, int], ...]
"""Accepted spellings, each with the index of its legal move."""


def reason_of_number(game: Game[int, Any], agent: str, action: int) -> Reason | None:
    """Returns why a number is not a legal action of a game with enumerated actions, or ``None`` if it is legal."""
    assert game.num_actions is not None
    if not 0 <= action < game.num_actions:
        return Reason("no_such_action", {"last": game.num_actions - 1})
    if agent not in game.to_move:
        return Reason("not_your_turn")
    return None if action in game.legal_actions(agent) else Reason("not_legal")


class NamedMovesCodec(Codec[int, ViewType]):
    """The part of a codec for games with enumerated actions whose names depend on the position.

    A subclass writes ``rules``, ``observation`` and ``picture``, and sets ``_prompts`` with the texts ``moves``,
    ``earlier_moves``, ``legal``, ``some_legal``, ``instruction`` and ``wait``. A reply is ``move:`` and the name of a legal move.

    Args:
        hint: whether the legal moves are listed.
    """

    def __init__(self, hint: bool) -> None:
        self._hint = hint

    @abstractmethod
    def names(self, view: ViewType) -> tuple[str, ...]:
        """Returns the names of the legal moves, all different, in the order of ``view.legal``."""

    def spellings(self, view: ViewType) -> Spellings:
        """Returns the accepted spellings, each with the index of its legal move; by default the names."""
        return tuple([(name, index) for index, name in enumerate(self.names(view))])

    @abstractmethod
    def example_index(self, view: ViewType) -> int:
        """Returns the index of the legal move in the instruction; another one from turn to turn."""

    def past(self, moves: Sequence[Past], name: Callable[[Past], str]) -> list[str]:
        """Returns the line of the past moves, without the earliest of many; nothing without moves.

        Args:
            moves: all past moves.
            name: writes a move.
        """
        if not moves:
            return []
        text = ", ".join(map(name, moves[-MAX_PAST:]))
        if len(moves) > MAX_PAST:
            text = self._prompts.render("earlier_moves", count=len(moves) - MAX_PAST, moves=text)
        return [self._prompts.render("moves", moves=text)]

    def task(self, view: ViewType) -> list[str]:
        """Returns the legal moves and the instruction, or the request to wait."""
        if not view.to_move:
            return [self._prompts.render("wait")]
        names = self.names(view)
        lines = []
        if self._hint and len(names) <= MAX_LISTED:
            lines.append(self._prompts.render("legal", moves=", ".join(names)))
        elif self._hint:
            some = [names[number * len(names) // MAX_LISTED] for number in range(MAX_LISTED)]
            lines.append(self._prompts.render("some_legal", count=len(names), moves=", ".join(some)))
        return [*lines, self._prompts.render("instruction", example=names[self.example_index(view)])]

    def example(self, view: ViewType) -> str:
        """Returns the reply with the move of the instruction."""
        return self.format(view.legal[self.example_index(view)], view) if view.legal else ""

    def read(self, reply: str, view: ViewType) -> int:
        """Parses the name of a legal move, after a label or alone on a line."""
        spellings = self.spellings(view)
        written = reply.strip().removeprefix("move:").strip()
        for text, index in spellings:
            if written == text:
                return int(view.legal[index])
        return int(view.legal[find(_escaped(reply, spellings), _grammar(spellings), view.agent).value])

    def format(self, action: int, view: ViewType) -> str:
        """Writes the name of a legal move with its label."""
        return f"move: {self.names(view)[view.legal.index(action)]}"


def _escaped(reply: str, spellings: Spellings) -> str:
    """Returns a reply with the symbols of every move in it replaced by rare letters."""
    for text in _longest_first(spellings):
        if text in reply:
            reply = reply.replace(text, text.translate(_ESCAPED))
    return reply


@lru_cache(maxsize=256)
def _longest_first(spellings: Spellings) -> tuple[str, ...]:
    return tuple(sorted([text for text, _ in spellings], key=len, reverse=True))


@lru_cache(maxsize=256)
def _grammar(spellings: Spellings) -> Grammar[int]:
    """Returns the grammar of one of these moves: as it is written, or in other letters if that is clear."""
    exact = {text.translate(_ESCAPED): index for text, index in spellings}
    loose: dict[str, int | None] = {}
    for text, index in exact.items():
        loose[text.casefold()] = index if loose.get(text.casefold(), index) == index else None
    lengths = sorted({len(text) for text in exact}, reverse=True)
    words = {word for text, _ in spellings for word in text.split()}

    def read(text: str, labelled: bool) -> tuple[int, int] | None:
        for length in lengths:
            name = text[:length]
            index = exact.get(name, loose.get(name.casefold()))
            if index is not None and (end := _ENDS.match(text, length)) and end["word"] not in words:
                return index, length
        return None

    return Grammar(read, nouns="move")
