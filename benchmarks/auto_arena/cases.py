"""Example battles, selected by rule (Auto-Arena, arXiv 2405.20267v1, section 5, Figures 8 to 10).

The paper shows three, chosen by hand: debaters that compete, one that learns from its opponent, and a gap that appears only in
the debate. Here each is the battle of a run with the greatest value of a measure, the first one in a tie.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from benchmarks.auto_arena.rejudging import Battle, Verdict
from llmarena_envs.debate.actions import Passage
from llmarena_envs.debate.protocol import CRITICIZE, RAISE, RESPOND, SIDES, THINK

SEQUENCE = 5
"""Length of a copied sequence, in words or Chinese characters."""

_UNIT = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3400-\u9fff\uf900-\ufaff]+")


class Case(NamedTuple):
    """A selected battle.

    Attributes:
        battle: the battle.
        value: its value of the measure.
    """

    battle: Battle
    value: float


def find(battles: Iterable[Battle], value: Callable[[Battle], float]) -> Case | None:
    """Returns the first battle with the greatest value, or ``None`` if no value is above 0."""
    best: Case | None = None
    for battle in battles:
        number = value(battle)
        if number > (best.value if best else 0):
            best = Case(battle, number)
    return best


def competitiveness(battle: Battle) -> float:
    """Returns the share of words spent on criticism and requests, of the side with the smaller share, 0 to 1.

    Thoughts are left out.
    """
    return min(_share_of_attack(battle.game.passages, side) for side in SIDES)


def learning(battle: Battle) -> float:
    """Returns the maximum number of word sequences that an answer copies from the opponent's earlier texts.

    Only sequences visible to the debater count, and only if they are neither in the question nor in its own earlier texts.
    """
    question = sequences(battle.game.question.text)
    known: Mapping[str, set[tuple[str, ...]]] = {side: set(question) for side in SIDES}
    heard: Mapping[str, set[tuple[str, ...]]] = {side: set() for side in SIDES}
    most = 0
    for passage in battle.game.passages:
        own = sequences(passage.text)
        if passage.action == RESPOND:
            most = max(most, len(own & heard[passage.side] - known[passage.side]))
        known[passage.side].update(own)
        if "opponent" not in passage.hidden_from:
            heard[SIDES[1 - SIDES.index(passage.side)]].update(own)
    return float(most)


def widening(battle: Battle, before: Sequence[Verdict]) -> float:
    """Returns the increase of the winner's lead in votes from the first answers to the whole debate, -2 to 2.

    Args:
        battle: a judged debate.
        before: verdicts on its first answers.
    """
    if battle.verdict.winner not in (0, 1) or not before:
        return 0.0
    sign = 1 if battle.verdict.winner == 0 else -1
    return sign * (battle.verdict.lead - sum(verdict.lead for verdict in before) / len(before))


def sequences(text: str) -> set[tuple[str, ...]]:
    """Returns every word sequence of a text, in lower case."""
    units = _UNIT.findall(text.casefold())
    return {tuple(units[index : index + SEQUENCE]) for index in range(len(units) - SEQUENCE + 1)}


def _share_of_attack(passages: Sequence[Passage], side: str) -> float:
    words = {
        passage: len(_UNIT.findall(passage.text))
        for passage in passages
        if passage.side == side and passage.action != THINK
    }
    attack = sum(count for passage, count in words.items() if passage.action in (CRITICIZE, RAISE))
    return attack / sum(words.values()) if any(words.values()) else 0.0
