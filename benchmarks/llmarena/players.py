"""Scripted players that show what an experiment measures: unlike the baselines they read texts, as a language model does."""

import re
from collections.abc import Mapping
from itertools import product
from typing import Any, ClassVar

from agents.policy import ScriptedPolicy

_CELLS = tuple(f"({row}, {column})" for row, column in product((1, 2, 3), repeat=2))
_COLUMNS = tuple(str(column) for column in range(1, 8))
_MOVE = r"(?:\(\d, \d\)|\d)"
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
