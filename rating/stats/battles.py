"""Battles: results of pairs from any source, e.g. external logs, as input to ratings and comparisons."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from rating.stats.bradley_terry.comparisons import Comparisons

LEAST_WEIGHT, MOST_WEIGHT = 1e-3, 1e6
"""Range of weights without overflow or loss of light results in sums."""


Style = Mapping[str, tuple[float, float]]
"""Counts in the texts of both sides (first, second) by name, e.g. ``{"length": (412, 230), "headers": (3, 0)}``."""

NO_STYLE: Style = MappingProxyType({})


class Battle(NamedTuple):
    """Result of one comparison of two policies.

    Attributes:
        first: name of the first policy, on the earlier seat or shown first if known.
        second: name of the second policy.
        score: score of the first policy, 0 to 1: 1 for a win, 0.5 for a tie; other fractions are allowed.
        deal: battles of one deal, e.g. of one question, are not independent; empty for a battle of its own.
        weight: weight of the battle, ``LEAST_WEIGHT`` to ``MOST_WEIGHT``.
        style: covariates that ratings can hold equal (``style_control``); empty if unknown.
    """

    first: str
    second: str
    score: float
    deal: str = ""
    weight: float = 1.0
    style: Style = NO_STYLE


def check_battle(battle: Battle) -> None:
    """Checks the score and the weight of a battle.

    Raises:
        ValueError: if the score is not within 0 and 1, or the weight not within its range.
    """
    if not 0 <= battle.score <= 1:
        raise ValueError(f"score: expected 0 to 1, got {battle.score} for {battle.first} against {battle.second}")
    if not LEAST_WEIGHT <= battle.weight <= MOST_WEIGHT:
        raise ValueError(
            f"weight: expected {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, got {battle.weight} for {battle.first} against"
            f" {battle.second}"
        )


def comparisons_of(battles: Iterable[Battle], *, seated: bool = False) -> Comparisons:
    """Converts battles to comparisons, in their order; battles of a policy with itself are left out.

    Args:
        battles: in any order.
        seated: whether the first and the second are seats with an advantage to fit. Leave it out if the log may list winners
            first.

    Raises:
        ValueError: as ``check_battle``.
    """
    kept = [battle for battle in battles if battle.first != battle.second]
    for battle in kept:
        check_battle(battle)
    policies = tuple(sorted({name for battle in kept for name in battle[:2]}))
    index_of = {name: index for index, name in enumerate(policies)}
    first = np.array([index_of[battle.first] for battle in kept], dtype=np.int64)
    second = np.array([index_of[battle.second] for battle in kept], dtype=np.int64)
    score = np.array([battle.score for battle in kept], dtype=float)
    weight = np.array([battle.weight for battle in kept], dtype=float)
    deals = {deal: index for index, deal in enumerate(sorted({battle.deal for battle in kept if battle.deal}))}
    cluster = np.array([deals.get(battle.deal, -1) for battle in kept], dtype=np.int64)
    # Number battles without a deal by content, not by their position in the log.
    alone = np.flatnonzero(cluster < 0)
    order = np.lexsort((weight[alone], score[alone], second[alone], first[alone]))
    cluster[alone[order]] = len(deals) + np.arange(len(alone))
    weights = None if np.all(weight == 1) else weight
    return Comparisons(policies, first, second, score, cluster, weights, seated, len(alone))
