"""Enumeration and sampling of admissible bargaining scenarios.

A scenario has counts of three kinds of items and each side's private value of one item of each kind. Admissible scenarios
have at least one item of each kind, five to seven items in all, a total value of exactly 10 for each side, every kind valued
by at least one side, and at least one kind valued by both (Lewis et al., arXiv 1706.05125, section 2.1).
"""

import operator
from bisect import bisect_right
from collections import Counter
from functools import cache
from itertools import accumulate, product
from typing import Any, NamedTuple

import numpy as np

from llmarena_envs.core.options import OptionError

TOTAL_VALUE = 10
"""Total value of all items to each side."""

Triple = tuple[int, int, int]
"""One number for each kind of item: hats, balls, apples."""


class Scenario(NamedTuple):
    """A bargaining problem.

    Attributes:
        counts: number of items of each kind.
        values: the value of one item of each kind to ``player_0`` and to ``player_1``.
    """

    counts: Triple
    values: tuple[Triple, Triple]


MAX_COUNT = {"openspiel": 5, "lewis": 4}
"""Maximum number of items of one kind in each source of scenarios."""

LEWIS_TOTALS = {5: 0.404, 6: 0.403, 7: 0.193}
"""Frequencies of five, six and seven items in the dialogues of Lewis et al."""


def worth(items: Triple, values: Triple) -> int:
    """Returns the value of ``items`` at ``values`` per item."""
    return items[0] * values[0] + items[1] * values[1] + items[2] * values[2]


@cache
def plans(counts: Triple) -> tuple[Triple, ...]:
    """Returns all subsets of the items, in ascending order."""
    hats, balls, apples = counts
    return tuple(product(range(hats + 1), range(balls + 1), range(apples + 1)))


@cache
def scenarios(source: str) -> tuple[Scenario, ...]:
    """Returns every admissible scenario of a source: 5,793 for ``openspiel``, 5,295 for ``lewis``."""
    found = []
    numbers, values = range(1, MAX_COUNT[source] + 1), range(TOTAL_VALUE + 1)
    for counts in product(numbers, numbers, numbers):
        if not 5 <= sum(counts) <= 7:
            continue
        vectors = [vector for vector in product(values, values, values) if worth(counts, vector) == TOTAL_VALUE]
        for ours, theirs in product(vectors, repeat=2):
            valued_by = [(a > 0) + (b > 0) for a, b in zip(ours, theirs, strict=True)]
            if min(valued_by) >= 1 and max(valued_by) == 2:
                found.append(Scenario(counts, (ours, theirs)))
    return tuple(found)


@cache
def all_plans(source: str) -> tuple[Triple, ...]:
    """Returns every possible plan of a source, in ascending order: 96 or 84."""
    return tuple(sorted({plan for scenario in scenarios(source) for plan in plans(scenario.counts)}))


@cache
def plan_numbers(source: str) -> dict[Triple, int]:
    """Returns the position of every plan in ``all_plans``."""
    return {plan: number for number, plan in enumerate(all_plans(source))}


@cache
def _cumulative_weights(source: str) -> tuple[float, ...]:
    """Returns the cumulative probabilities of the scenarios."""
    space = scenarios(source)
    if source == "openspiel":
        weights = [1.0] * len(space)
    else:
        values_of = Counter(scenario.counts for scenario in space)
        pools_of = Counter(sum(counts) for counts in values_of)
        weights = [LEWIS_TOTALS[sum(counts)] / pools_of[sum(counts)] / values_of[counts] for counts, _ in space]
    sums = list(accumulate(weights))
    return tuple(value / sums[-1] for value in sums)


def draw_scenario(source: str, rng: np.random.Generator) -> Scenario:
    """Draws a scenario.

    Args:
        source: ``openspiel`` draws uniformly. ``lewis`` draws the number of items by its frequency
            in the dialogues of Lewis et al., then the counts, then the values, each uniformly: their counts of 1, 2, 3 and
            4 items of a kind (41.0, 32.1, 20.0 and 6.9 %) come out within half a point.
        rng: the generator of the match.
    """
    return scenarios(source)[bisect_right(_cumulative_weights(source), rng.random())]


@cache
def _by_what_a_side_knows(source: str) -> dict[tuple[int, Triple, Triple], tuple[Scenario, ...]]:
    found: dict[tuple[int, Triple, Triple], tuple[Scenario, ...]] = {}
    for scenario in scenarios(source):
        for seat, values in enumerate(scenario.values):
            known = seat, scenario.counts, values
            found[known] = (*found.get(known, ()), scenario)
    return found


def with_values(source: str, seat: int, counts: Triple, values: Triple) -> tuple[Scenario, ...]:
    """Returns the scenarios of a source with these counts and these values of the side in ``seat``: all equally likely."""
    return _by_what_a_side_knows(source)[seat, counts, values]


def check_scenario(instance: object, source: str) -> Scenario:
    """Returns ``instance``, a list of counts, values of player_0 and values of player_1, as a scenario.

    Raises:
        OptionError: if it is not a scenario of ``source``.
    """
    try:
        found = Scenario(*_read_instance(instance))
    except (TypeError, ValueError):
        found = None
    if found is None or found not in _members(source):
        raise OptionError(
            "instance: expected [counts, values of player_0, values of player_1] with three whole numbers each: counts from 1 "
            f"to {MAX_COUNT[source]} that add up to 5, 6 or 7, values that make all items worth {TOTAL_VALUE} to each side, "
            f"every kind valued by somebody and one by both; got {instance!r}"
        )
    return found


def _read_instance(instance: Any) -> tuple[Triple, tuple[Triple, Triple]]:
    counts, ours, theirs = instance
    return _triple(counts), (_triple(ours), _triple(theirs))


def _triple(numbers: Any) -> Triple:
    first, second, third = map(operator.index, numbers)
    return first, second, third


@cache
def _members(source: str) -> frozenset[Scenario]:
    return frozenset(scenarios(source))
