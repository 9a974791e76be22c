"""Units of evidence: independent groups of battles that are fair to both policies, in an order fixed beforehand.

If seats are known the unit is a *pair*: a deal played from both seats, so a seat advantage cancels. A deal with a missing
second match (unfinished, provider failure, or end of the run) is left out until it is complete. If fewer than half of the deals
were played from both seats, e.g. for questions asked in one order, two other deals make a *matched pair*: one with the first
policy on the first seat and one with it on the second, matched in order.

If seats are not known the unit is a deal, or a battle without a deal. The position in the battle is ignored, since a log may
name the winner first.

If policies do not meet (partners, solo games, roles) the unit is a *shared deal*: a deal on which both have finished the same
number of matches. The policy with the higher mean result scores 1; if the means are equal, each scores 0.5.

The order of a log can depend on the results, e.g. with wins before losses. Then units and matched deals are in random order.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import fmean
from typing import NamedTuple

import numpy as np

from rating.stats.estimates import Floats
from rating.stats.results import Battle, check_battle
from rating.stats.simultaneous import DealResult

PAIRS = "pairs"
MATCHED = "matched pairs"
DEALS = "deals"
BATTLES = "battles"
SHARED = "shared deals"
ROUNDS = "rounds"

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Units:
    """Units of two policies, ordered by their last battle, or randomly.

    Attributes:
        scores: scores of the first policy, 0 to 1, shape (t,).
        weights: relative to the largest weight up to each unit, or the largest of all without an order, shape (t,); ``None`` if
            all are equal.
        kind: kind of unit: ``pairs`` (a deal from both seats), ``matched pairs`` (two deals, one from each seat, if most were
            not played from both), ``deals`` or ``battles``; ``shared deals`` for policies that do not meet; ``rounds`` for one
            unit from each of several environments with different kinds.
        left_out: number of battles in no unit yet; for ``shared deals``, deals on which one policy has finished fewer matches.
        ordered: whether the order was fixed before the results were known.
    """

    scores: Floats
    weights: Floats | None
    kind: str
    left_out: int
    ordered: bool = True


class _BattleResult(NamedTuple):
    """A battle from the view of the compared policy."""

    place: int
    deal: str
    is_first: bool
    score: float
    weight: float


class _Unit(NamedTuple):
    """A unit: position of its last battle, score and weight."""

    place: int
    score: float
    weight: float


def units_of(battles: Iterable[Battle], a: str, b: str, *, seated: bool, ordered: bool) -> Units:
    """Returns the units of two policies.

    Args:
        battles: battles of any policies.
        a: the policy of the returned scores.
        b: the other policy.
        seated: whether the first and the second of a battle are seats.
        ordered: whether the order of the battles is independent of the results: the order of the schedule, not of completion.

    Raises:
        ValueError: if a score is not within 0 and 1, or a weight not above 0.
    """
    results = _results(battles, a, b)
    if not ordered:
        results = [results[index] for index in np.random.default_rng(0).permutation(len(results))]
        results = [result._replace(place=place) for place, result in enumerate(results)]
    units = replace(_made(results, seated), ordered=ordered)
    if units.weights is None:
        return units
    # A later, heavier unit must not change earlier bets.
    largest = np.maximum.accumulate(units.weights) if ordered else units.weights.max()
    return replace(units, weights=units.weights / largest)


def units_of_means(cases: Iterable[DealResult], a: str, b: str) -> tuple[Units, list[float]]:
    """Returns the shared deals of two policies, and the mean of the first minus the mean of the second on each.

    Args:
        cases: results of any policies, in the order of the schedule. Parts count equally: a deal needs both policies in each
            part.
        a: the policy of the returned scores.
        b: the other policy.
    """
    values: dict[int, dict[str, tuple[list[float], list[float]]]] = defaultdict(lambda: defaultdict(lambda: ([], [])))
    last, parts = dict[int, int](), set[str]()
    for place, case in enumerate(cases):
        if case.policy in (a, b):
            values[case.deal][case.part][case.policy == b].append(case.value)
            last[case.deal] = place
            parts.add(case.part)
    differences, left_out = [], 0
    for deal in sorted(last, key=last.__getitem__):
        found = values[deal]
        if found.keys() == parts and all(len(ours) == len(theirs) for ours, theirs in found.values()):
            differences.append(fmean(fmean(ours) - fmean(theirs) for ours, theirs in found.values()))
        else:
            left_out += 1
    leads = np.array(differences)
    leads[np.abs(leads) <= _ROUNDING * np.abs(leads).max(initial=0.0)] = 0.0
    return Units(0.5 + 0.5 * np.sign(leads), None, SHARED, left_out), differences


def _made(results: list[_BattleResult], seated: bool) -> Units:
    if not seated:
        labelled = any(result.deal for result in results)
        return _units(DEALS if labelled else BATTLES, [_plain(deal) for deal in _deals(results).values()], 0)
    deals = list(_deals(results).values())
    both = [parts for parts in deals if len({part.is_first for part in parts}) == 2]
    if both and 2 * len(both) >= len(deals):
        return _units(PAIRS, map(_swapped, both), len(results) - sum(map(len, both)))
    first, second = (
        [parts for parts in deals if {part.is_first for part in parts} == {seat}] for seat in (True, False)
    )
    matched = [[*one, *other] for one, other in zip(first, second, strict=False)]
    units = [*both, *matched]
    return _units(MATCHED, map(_swapped, units), len(results) - sum(map(len, units)))


def _results(battles: Iterable[Battle], a: str, b: str) -> list[_BattleResult]:
    results = []
    for place, battle in enumerate(battles):
        if {battle.first, battle.second} != {a, b} or battle.first == battle.second:
            continue
        check_battle(battle)
        is_first = battle.first == a
        score = battle.score if is_first else 1 - battle.score
        results.append(_BattleResult(place, battle.deal, is_first, score, battle.weight))
    return results


def _deals(results: Iterable[_BattleResult]) -> dict[tuple[str, int], list[_BattleResult]]:
    """Groups results by deal; a result without a deal is a group of its own."""
    deals: dict[tuple[str, int], list[_BattleResult]] = defaultdict(list)
    for result in results:
        deals[result.deal, -1 if result.deal else result.place].append(result)
    return deals


def _plain(parts: Iterable[_BattleResult]) -> _Unit:
    """Makes a unit of battles by their weights."""
    parts = list(parts)
    total = sum(part.weight for part in parts)
    score = sum(part.weight * part.score for part in parts) / total
    return _Unit(max(part.place for part in parts), min(1.0, score), total / len(parts))


def _swapped(parts: Iterable[_BattleResult]) -> _Unit:
    """Makes a unit with equal weight of both seats."""
    parts = list(parts)
    seats = [_plain(part for part in parts if part.is_first is seat) for seat in (True, False)]
    place, weight = max(seat.place for seat in seats), sum(seat.weight for seat in seats) / 2
    return _Unit(place, sum(seat.score for seat in seats) / 2, weight)


def _units(kind: str, units: Iterable[_Unit], left_out: int) -> Units:
    ordered = sorted(units)
    weights = np.array([unit.weight for unit in ordered])
    alike = not len(weights) or np.ptp(weights) == 0
    scores = np.array([unit.score for unit in ordered])
    return Units(scores, None if alike else weights, kind, left_out)
