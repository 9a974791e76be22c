"""The rules: one judge reads items, a word and a clue each, and decides whether the clue describes the word correctly."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import OptionError
from llmarena_envs.undercover.words import one_line

JUDGE = "judge_0"
NO, YES = 0, 1
VERDICTS = (NO, YES)
MAX_ITEMS = 100_000
MAX_TEXT = 1_000
"""Maximum number of characters of a word or clue."""

EXAMPLE = (("lemon", "a sour yellow fruit"),)


class JudgeView(NamedTuple):
    """View of the judge: the present item only; verdicts are independent of earlier items.

    Attributes:
        agent: the judge.
        to_move: whether a verdict is due.
        legal: the verdicts if one is due.
        number: number of the item, from 1; of the last one when all are judged.
        n_items: number of items.
        word: the word.
        clue: the clue.
    """

    agent: str
    to_move: bool
    legal: tuple[int, ...]
    number: int
    n_items: int
    word: str
    clue: str


class DescriptionJudge(Game[int, JudgeView]):
    """Items judged in sequence; an action is 1 for a clue that describes the word correctly, else 0.

    Args:
        items: pairs of a word and a clue, each one line without control characters.

    Attributes:
        items: the items.
        verdicts: verdicts on the items judged up to now.
    """

    agents = (JUDGE,)
    num_actions = len(VERDICTS)
    perfect_information = True

    def __init__(self, items: Sequence[Sequence[str]]) -> None:
        self.items = _check_items(items)
        self.max_turns = len(self.items)

    def reset(self, rng: np.random.Generator) -> None:
        """Begins with the first item; draws nothing at random."""
        self.verdicts: tuple[int, ...] = ()
        self.to_move: tuple[str, ...] = self.agents
        self.rewards = (0.0,)

    def view(self, agent: str) -> JudgeView:
        """Returns the present item."""
        index = min(len(self.verdicts), len(self.items) - 1)
        to_move = agent in self.to_move
        return JudgeView(agent, to_move, VERDICTS if to_move else (), index + 1, len(self.items), *self.items[index])

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        """Returns the reason against a number that is not a verdict."""
        return None if action in VERDICTS else Reason("no_such_action", {"last": YES})

    def apply(self, actions: tuple[int, ...]) -> None:
        """Records a verdict; there are no rewards."""
        self.verdicts += actions
        self.to_move = self.agents if len(self.verdicts) < len(self.items) else ()


def _check_items(items: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    if not isinstance(items, list | tuple) or not 1 <= len(items) <= MAX_ITEMS:
        raise OptionError(f"items: expected a list of 1 to {MAX_ITEMS} pairs of a word and a clue, got {items!r:.200}")
    for item in items:
        if not isinstance(item, list | tuple) or len(item) != 2 or not all(map(_is_line, item)):
            raise OptionError(
                f"items: expected a word and a clue, each a line of 1 to {MAX_TEXT} characters without control characters,"
                f" got {item!r:.200}"
            )
    return tuple((word, clue) for word, clue in items)


def _is_line(text: object) -> bool:
    return isinstance(text, str) and 1 <= len(text) <= MAX_TEXT and text == one_line(text)
