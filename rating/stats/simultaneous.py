"""Simultaneous claims about many differences: all of them are correct with a probability of at least 95 %.

Differences of ratings use draws from their joint distribution (``established_above``). Differences of means on common deals use
Fisher's randomisation test (``established``): the luck of a common deal cancels in the difference on it, and for equal policies
the sign of the difference on each deal is random. All pairs share the draws of these signs, which keeps their dependence.

Sources: Romano and Wolf, Exact and approximate stepdown methods for multiple hypothesis testing (Journal of the American
Statistical Association 100, 2005), with the maximum of the statistics of all hypotheses not yet rejected; Fisher, The Design of
Experiments (1935, section 21).
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rating.stats.estimates import FEWEST_CLUSTERS, Floats, Integers
from rating.stats.results import rewards
from rating.store.records import Outcome

LEVEL = 0.05
"""Maximum probability of any wrong claim."""

_STEP = 1.1
"""Growth factor of the results between two simulated looks."""

_FEWEST_DRAWS, _MOST_DRAWS, _NUMBERS = 1_000, 4_000, 2_000_000

DRAWS = 2_000
"""Number of sign draws."""

_EXACT = 11
"""Maximum number of deals for an exact test with all combinations of signs."""

_ROUNDING = 1e-9


class Pair(NamedTuple):
    """Two policies with an established difference."""

    better: str
    worse: str


def step_down(statistics: Floats, nulls: Floats) -> NDArray[np.bool_]:
    """Returns the rejected hypotheses, with the familywise error rate ``LEVEL``.

    Args:
        statistics: absolute values of the test statistics of m hypotheses, shape (m,).
        nulls: draws from their joint distribution if all hypotheses hold, shape (draws, m).

    Returns:
        Shape (m,).
    """
    rejected = np.zeros(len(statistics), dtype=bool)
    while not rejected.all():
        critical = np.quantile(nulls[:, ~rejected].max(axis=1), 1 - LEVEL, method="higher")
        found = ~rejected & (statistics > critical)
        if not found.any():
            break
        rejected |= found
    return rejected


def holm(values: Sequence[float]) -> list[float]:
    """Returns p-values corrected for the number of tests (Holm 1979), in the order given."""
    order = sorted(range(len(values)), key=values.__getitem__)
    corrected = [0.0] * len(values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(values) - rank) * values[index]))
        corrected[index] = highest
    return corrected


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """Returns p-values corrected for the false discovery rate, in the order given.

    Among the tests with a corrected value below a level, the expected share of false ones is at most this level if the tests
    are independent or positively dependent. Source: Benjamini and Hochberg, Controlling the false discovery rate (1995).
    """
    order = sorted(range(len(values)), key=values.__getitem__, reverse=True)
    corrected = [0.0] * len(values)
    lowest = 1.0
    for place, index in enumerate(order):
        lowest = min(lowest, values[index] * len(values) / (len(values) - place))
        corrected[index] = lowest
    return corrected


def established_above(
    lead: Floats, covariance: Floats, one: Integers, other: Integers, *, degrees: float, growth: float = 1.0
) -> NDArray[np.bool_]:
    """Returns whether the row estimate is established above the column estimate, for all pairs together, shape (n, n).

    Args:
        lead: t statistic of each difference, positive if the first estimate is larger, shape (m,).
        covariance: covariance of n estimates, shape (n, n).
        one: index of the first estimate of each difference, shape (m,).
        other: index of the second one, shape (m,).
        degrees: degrees of freedom of the covariance.
        growth: as in ``null_draws``.
    """
    above = np.zeros(covariance.shape, dtype=bool)
    if len(one):
        found = step_down(np.abs(lead), null_draws(covariance, one, other, degrees=degrees, growth=growth))
        above[one, other], above[other, one] = found & (lead > 0), found & (lead < 0)
    return above


def null_draws(covariance: Floats, one: Integers, other: Integers, *, degrees: float, growth: float = 1.0) -> Floats:
    """Draws the absolute t statistics of differences of estimates under the null hypothesis, for ``step_down``.

    Under a stopping rule there are many looks at the results, so the largest statistic over all looks is drawn: estimates move
    as a Brownian motion in the number of results, with a look at each growth by 10 %.

    Args:
        covariance: covariance of n estimates, shape (n, n).
        one: index of the first estimate of each difference, shape (m,).
        other: index of the second one, shape (m,).
        degrees: degrees of freedom of the covariance.
        growth: ratio of the number of results at the last and at the first look; 1 for one look.

    Returns:
        Shape (draws, m).
    """
    rng = np.random.default_rng(0)
    draws = min(max(_NUMBERS // len(one), _FEWEST_DRAWS), _MOST_DRAWS)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.clip(values, 0, None))
    looks = np.geomspace(1.0, growth, 1 + int(np.ceil(np.log(growth) / np.log(_STEP))))
    walk, most = np.zeros((len(covariance), draws)), np.zeros((len(one), draws))
    for time, step in zip(looks, np.diff(looks, prepend=0.0), strict=True):
        walk += np.sqrt(step) * (root @ rng.standard_normal(walk.shape))
        np.maximum(most, np.abs(walk[one] - walk[other]) / np.sqrt(time), out=most)
    most /= difference_errors(covariance, one, other)[:, None]
    most *= np.sqrt(degrees / rng.chisquare(degrees, draws))
    return most.T


def difference_errors(covariance: Floats, one: Integers, other: Integers) -> Floats:
    """Returns the standard errors of differences of estimates, shape (m,)."""
    variances = np.diag(covariance)
    errors: Floats = np.sqrt(np.maximum(variances[one] + variances[other] - 2 * covariance[one, other], 1e-12))
    return errors


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


def _by_deal(cases: Iterable[DealResult]) -> dict[str, dict[int, list[float]]]:
    """Returns the values of each policy on each deal."""
    table: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        table[case.policy][case.deal].append(case.value)
    return {name: dict(deals) for name, deals in sorted(table.items())}


def established(cases: Iterable[DealResult]) -> tuple[Pair, ...]:
    """Returns the pairs of policies with an established difference of means, corrected for multiple comparisons.

    A pair is left out if it has fewer than ``FEWEST_CLUSTERS`` common deals, or if the difference on the common deals and the
    difference of the means over all matches have opposite signs.

    Args:
        cases: results of one part, in any order.
    """
    values = _by_deal(cases)
    means = {name: fmean(itertools.chain.from_iterable(deals.values())) for name, deals in values.items()}
    pairs, columns = [], []
    for one, other in itertools.combinations(values, 2):
        first, second = values[one], values[other]
        found = {deal: fmean(first[deal]) - fmean(second[deal]) for deal in sorted(first.keys() & second.keys())}
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
    rejected = step_down(statistics, np.abs(_signs(len(deals)) @ differences))
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
