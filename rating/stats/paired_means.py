"""Differences of means on common deals, and the pairs of policies with an established difference.

The luck of a common deal cancels in the difference on it. A pair is tested by Fisher's randomisation test: for equal policies
the sign of the difference on each deal is random. All pairs share the draws of these signs, which keeps their dependence.

Sources: Fisher, The Design of Experiments (1935, section 21) for the signs; Romano and Wolf (2005) for the correction for
multiple comparisons (``rating.stats.simultaneous``).
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rating.stats.estimates import FEWEST_CLUSTERS
from rating.stats.results import rewards
from rating.stats.simultaneous import LEVEL, Pair, step_down
from rating.store.outcome import Outcome

Floats = NDArray[np.float64]

DRAWS = 2_000
"""Number of sign draws."""

_EXACT = 11
"""Maximum number of deals for an exact test with all combinations of signs."""

_ROUNDING = 1e-9


class DealResult(NamedTuple):
    """The result of a policy in a match.

    Attributes:
        policy: its name.
        deal: seed of the match.
        value: its result, e.g. the reward.
        part: kind of result, e.g. a role; empty if there is only one kind.
    """

    policy: str
    deal: int
    value: float
    part: str = ""


def reward_cases(outcomes: Iterable[Outcome], statistic: str = "", part: str = "") -> list[DealResult]:
    """Returns the mean reward, or mean of a statistic, of each policy in each finished match."""
    outcomes = list(outcomes)
    seeds = {outcome.number: outcome.seed for outcome in outcomes}
    return [DealResult(policy, seeds[number], value, part) for number, policy, value in rewards(outcomes, statistic)]


def by_deal(cases: Iterable[DealResult]) -> dict[str, dict[int, list[float]]]:
    """Returns the values of each policy on each deal."""
    table: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        table[case.policy][case.deal].append(case.value)
    return {name: dict(deals) for name, deals in sorted(table.items())}


def paired_differences(first: Mapping[int, list[float]], second: Mapping[int, list[float]]) -> dict[int, float]:
    """Returns the mean of the first policy minus the mean of the second on each common deal."""
    return {deal: fmean(first[deal]) - fmean(second[deal]) for deal in sorted(first.keys() & second.keys())}


def established(cases: Iterable[DealResult], level: float = LEVEL) -> tuple[Pair, ...]:
    """Returns the pairs of policies with an established difference of means, corrected for multiple comparisons.

    A pair is left out if it has fewer than ``FEWEST_CLUSTERS`` common deals, or if the difference on the common deals and the
    difference of the means over all matches have opposite signs.

    Args:
        cases: results of one part, in any order.
        level: maximum probability that any pair is wrong.
    """
    values = by_deal(cases)
    means = {name: fmean(itertools.chain.from_iterable(deals.values())) for name, deals in values.items()}
    pairs, columns = [], []
    for one, other in itertools.combinations(values, 2):
        found = paired_differences(values[one], values[other])
        lead, scale = sum(found.values()), sum(map(abs, found.values()))
        if len(found) >= FEWEST_CLUSTERS and abs(lead) > _ROUNDING * scale:
            pairs.append(Pair(one, other) if lead > 0 else Pair(other, one))
            columns.append(found)
    if not pairs:
        return ()
    deals = {deal: index for index, deal in enumerate(sorted(set().union(*columns)))}
    differences = np.zeros((len(deals), len(pairs)))
    for column, found in enumerate(columns):
        differences[[deals[deal] for deal in found], column] = list(found.values())
    differences /= np.sqrt((differences**2).sum(axis=0))
    statistics = np.abs(differences.sum(axis=0)) * (1 - _ROUNDING)
    rejected = step_down(statistics, np.abs(_signs(len(deals)) @ differences), level)
    return tuple(
        pair
        for pair, is_found in zip(pairs, rejected, strict=True)
        if is_found and means[pair.better] > means[pair.worse]
    )


def _signs(deals: int) -> Floats:
    """Returns signs of the deals, shape (draws, deals): random, or for few deals all combinations with a plus first."""
    if deals <= _EXACT:
        return np.array([(1.0, *rest) for rest in itertools.product((1.0, -1.0), repeat=deals - 1)])
    return np.random.default_rng(0).integers(0, 2, size=(DRAWS, deals)).astype(np.float64) * 2 - 1
