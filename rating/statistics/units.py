"""Units of evidence: what of the battles of two policies is independent and fair to both, in an order fixed beforehand.

Where the seats are known the unit is a *pair*: a deal played from both seats, or, where every deal is played once, two
matches of different deals with the seats exchanged. So an advantage of a seat counts for neither. A deal whose second match
is missing (it is still played, a provider failed, or the run ended) waits and counts for nobody.

Where the seats are not known nothing can be exchanged: the unit is a deal, or a battle that belongs to none. Which policy
stands first says nothing then, since a log may name the winner first.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rating.statistics.battles import Battle

Floats = NDArray[np.float64]

PAIRS = "pairs"
MATCHED = "matched pairs"
DEALS = "deals"
BATTLES = "battles"


@dataclass(frozen=True, eq=False)
class Units:
    """The units of two policies, ordered by their last battle.

    Attributes:
        scores: of the first policy, 0 to 1, shape (t,).
        weights: of the units, the largest 1, shape (t,); ``None`` if all are alike.
        kind: what a unit is: ``pairs`` (a deal from both seats), ``matched pairs`` (two deals, one from each seat), ``deals``
            or ``battles``.
        left_out: number of battles that are part of no unit yet.
    """

    scores: Floats
    weights: Floats | None
    kind: str
    left_out: int


class _Result(NamedTuple):
    """A battle as the policy compared sees it."""

    place: int
    deal: str
    is_first: bool
    score: float
    weight: float


class _Unit(NamedTuple):
    """A unit: where its last battle stands, its score and its weight."""

    place: int
    score: float
    weight: float


def units_of(battles: Iterable[Battle], a: str, b: str, *, seated: bool) -> Units:
    """Returns the units of two policies.

    Args:
        battles: of any policies, in an order that does not depend on results (that of the schedule, not that in which they
            ended).
        a: the policy whose scores are returned.
        b: the other one.
        seated: whether the first and the second of a battle are seats.

    Raises:
        ValueError: if a score is not within 0 and 1, or a weight not above 0.
    """
    results = _results(battles, a, b)
    if not seated:
        labelled = any(result.deal for result in results)
        return _units(DEALS if labelled else BATTLES, [_plain(deal) for deal in _deals(results).values()], 0)
    deals = {deal: parts for deal, parts in _deals(results).items() if len({part.is_first for part in parts}) == 2}
    if deals:
        swapped = [_swapped(parts) for parts in deals.values()]
        return _units(PAIRS, swapped, len(results) - sum(map(len, deals.values())))
    first = [result for result in results if result.is_first]
    second = [result for result in results if not result.is_first]
    matched = [_swapped(parts) for parts in zip(first, second, strict=False)]
    return _units(MATCHED, matched, abs(len(first) - len(second)))


def _results(battles: Iterable[Battle], a: str, b: str) -> list[_Result]:
    results = []
    for place, battle in enumerate(battles):
        if {battle.first, battle.second} != {a, b} or battle.first == battle.second:
            continue
        if not 0 <= battle.score <= 1:
            raise ValueError(f"score: expected 0 to 1, got {battle.score} for {battle.first} against {battle.second}")
        if not 0 < battle.weight < float("inf"):
            raise ValueError(
                f"weight: expected a number above 0, got {battle.weight} for {battle.first} against {battle.second}"
            )
        is_first = battle.first == a
        score = battle.score if is_first else 1 - battle.score
        results.append(_Result(place, battle.deal, is_first, score, battle.weight))
    return results


def _deals(results: Iterable[_Result]) -> dict[tuple[str, int], list[_Result]]:
    """Groups results by deal; one that has none is alone."""
    deals: dict[tuple[str, int], list[_Result]] = defaultdict(list)
    for result in results:
        deals[result.deal, -1 if result.deal else result.place].append(result)
    return deals


def _plain(parts: Iterable[_Result]) -> _Unit:
    """Makes a unit of battles that count by their weights."""
    parts = list(parts)
    total = sum(part.weight for part in parts)
    score = sum(part.weight * part.score for part in parts) / total
    return _Unit(max(part.place for part in parts), min(1.0, score), total / len(parts))


def _swapped(parts: Iterable[_Result]) -> _Unit:
    """Makes a unit in which both seats count alike."""
    parts = list(parts)
    seats = [_plain(part for part in parts if part.is_first is seat) for seat in (True, False)]
    place, weight = max(seat.place for seat in seats), sum(seat.weight for seat in seats) / 2
    return _Unit(place, sum(seat.score for seat in seats) / 2, weight)


def _units(kind: str, units: Iterable[_Unit], left_out: int) -> Units:
    ordered = sorted(units)
    weights = np.array([unit.weight for unit in ordered])
    alike = not len(weights) or np.ptp(weights) == 0
    scores = np.array([unit.score for unit in ordered])
    return Units(scores, None if alike else weights / weights.max(), kind, left_out)
