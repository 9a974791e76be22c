"""Scripted players that show what an experiment measures where the baselines do not.

They read texts as a language model does, know the list of words, or judge.
"""

import re
from collections.abc import Mapping
from itertools import product
from typing import Any, ClassVar

from agents.baselines.undercover import ATTRIBUTES, CHINESE_ATTRIBUTES, Similarity, attributes
from agents.policy import ScriptedPolicy
from benchmarks.llmarena.description_judge.game import JudgeView
from llmarena_envs.core.options import check_number
from llmarena_envs.undercover.game import CLUE, UndercoverView
from llmarena_envs.undercover.words import essence, has_cjk, shipped_pairs

_CELLS = tuple(f"({row}, {column})" for row, column in product((1, 2, 3), repeat=2))
_COLUMNS = tuple(str(column) for column in range(1, 8))
_MOVE = r"(?:\(\d, \d\)|\d)"
_BETWEEN_ATTRIBUTES = re.compile("[,、]")
_LISTED = re.compile(rf"^[^:：\n]+[:：] *({_MOVE}(?:, {_MOVE})*)$", re.MULTILINE)


class Reader(ScriptedPolicy):
    """Plays a random one of the moves that a board game's text lists; without a list, any cell or column, free or not.

    It shows what the list is worth to somebody who does not look at the board.
    """

    reads: ClassVar[str] = "text"

    def __call__(self, observation: Mapping[str, Any]) -> str:
        """Returns a move."""
        listed = _LISTED.search(observation["text"])
        if listed:
            return str(self.choose(re.findall(_MOVE, listed[1])))
        return str(self.choose(_CELLS if "(1, 1)" in observation["rules"] else _COLUMNS))


class Guesser(Similarity):
    """Plays undercover like similarity, and guesses words as somebody who knows the shipped list of pairs.

    Where its word is in several pairs it draws one of them. It shows what it is worth to know which side one is on: nobody who
    takes itself for an ordinary player finds the words of all others as the undercover player.

    Args:
        undercover: whether it takes itself for the undercover player, so that all others hold the other word of the pair;
            otherwise it takes the one it votes for for that player, and all others hold its own word.
        error: share of its clues that name attributes its word does not have, and of guessed words that it replaces by its own.
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
        """Returns two of the attributes of the own word, or two others by mistake."""
        if not self._errs():
            return super().clue(view)
        own = attributes(view.word)
        table = CHINESE_ATTRIBUTES if has_cjk(view.word) else ATTRIBUTES
        return self.describe(view, [attribute for attribute in table if attribute not in own])

    def _errs(self) -> bool:
        return bool(self._error) and self.rng.random() < self._error


def _partners(word: str) -> list[str]:
    """Returns the words that are paired with a word in the shipped list of its language."""
    own = essence(word)
    found = []
    for _, a, b in shipped_pairs("zh" if has_cjk(word) else "en"):
        found += [b] if essence(a) == own else [a] if essence(b) == own else []
    return found


class AttributeJudge(ScriptedPolicy):
    """Judges descriptions by the table of attributes from which the baselines of undercover make theirs.

    A clue is right if it names attributes of its word and nothing else; so clues of anybody who describes words as they are in
    the world are wrong.
    """

    def __call__(self, view: JudgeView) -> str:
        """Returns a verdict."""
        named = {part.strip() for part in _BETWEEN_ATTRIBUTES.split(view.clue)}
        return f"Verdict: {'yes' if named <= set(attributes(view.word)) else 'no'}"
