"""Scripted players for effects that the baselines do not show.

They read prompts like a language model, know the word list, or judge.
"""

import re
from collections.abc import Mapping
from itertools import product
from typing import Any, ClassVar

from agents.baselines.undercover import ATTRIBUTES, CHINESE_ATTRIBUTES, Similarity, attributes
from agents.policy import ScriptedPolicy
from benchmarks.llmarena.description_judge.case import DescriptionRequest
from llmarena_envs.core.options import check_number
from llmarena_envs.undercover.game import CLUE, UndercoverView
from llmarena_envs.undercover.words import essence, has_cjk, shipped_pairs

_CELLS = tuple(f"({row}, {column})" for row, column in product((1, 2, 3), repeat=2))
_COLUMNS = tuple(str(column) for column in range(1, 8))
_MOVE = r"(?:\(\d, \d\)|\d)"
_BETWEEN_ATTRIBUTES = re.compile("[,、]")
_LISTED = re.compile(rf"^[^:：\n]+[:：] *({_MOVE}(?:, {_MOVE})*)$", re.MULTILINE)


class Reader(ScriptedPolicy):
    """Plays a random listed move of a board game; without a list, any cell or column, free or not.

    It shows the effect of the list on a player that ignores the board.
    """

    reads: ClassVar[str] = "text"

    def __call__(self, observation: Mapping[str, Any]) -> str:
        """Returns a move."""
        listed = _LISTED.search(observation["text"])
        if listed:
            return str(self.choose(re.findall(_MOVE, listed[1])))
        return str(self.choose(_CELLS if "(1, 1)" in observation["rules"] else _COLUMNS))


class Guesser(Similarity):
    """Plays undercover like similarity, and guesses words from the shipped list of pairs.

    If its word is in several pairs it draws one of them. It shows the value of knowing one's own role: a guesser that assumes the
    ordinary role cannot guess all words right as the undercover player.

    Args:
        undercover: whether it assumes the undercover role, so all others have the other word of the pair; otherwise it assumes
            that role for the player it votes for, and all others have its own word.
        error: share of its clues with attributes that its word does not have, and of guessed words replaced by its own.
    """

    def __init__(self, undercover: bool = True, error: float = 0.0) -> None:
        check_number("error", error, 0, 1)
        self._undercover = undercover
        self._error = error

    def __call__(self, view: UndercoverView) -> str:
        """Returns a clue, or a vote and the guesses."""
        partners = _partners(view.word)
        if view.stage == CLUE or not partners:
            return super().__call__(view)
        target, other = self.target(view), self.draw(partners)
        words = {
            vote.target: other if (self._undercover or vote.target == target) and not self._errs() else view.word
            for vote in view.legal
        }
        return f"vote: {target}\nguess: " + "; ".join(f"{player}={word}" for player, word in words.items())

    def clue(self, view: UndercoverView) -> str:
        """Returns two attributes of the own word, or two wrong ones by mistake."""
        if not self._errs():
            return super().clue(view)
        own = attributes(view.word)
        table = CHINESE_ATTRIBUTES if has_cjk(view.word) else ATTRIBUTES
        return self.describe(view, [attribute for attribute in table if attribute not in own])

    def _errs(self) -> bool:
        return bool(self._error) and self.rng.random() < self._error


def _partners(word: str) -> list[str]:
    """Returns the words paired with a word in the shipped list of its language."""
    own = essence(word)
    found = []
    for _, a, b in shipped_pairs("zh" if has_cjk(word) else "en"):
        found += [b] if essence(a) == own else [a] if essence(b) == own else []
    return found


class AttributeJudge(ScriptedPolicy):
    """Judges descriptions by the attribute table of the undercover baselines.

    A clue is right if it consists of attributes of its word. It rejects natural descriptions in other words.
    """

    def __call__(self, request: DescriptionRequest) -> str:
        """Returns a verdict."""
        named = {part.strip() for part in _BETWEEN_ATTRIBUTES.split(request.clue)}
        return f"Verdict: {'yes' if named <= set(attributes(request.word)) else 'no'}"
