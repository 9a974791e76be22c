"""Simultaneous claims about many differences: all of them are correct with a probability of at least 95 %.

Source: Romano and Wolf, Exact and approximate stepdown methods for multiple hypothesis testing (Journal of the American
Statistical Association 100, 2005), with the maximum of the statistics of all hypotheses not yet rejected.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LEVEL = 0.05
"""Maximum probability of any wrong claim."""

_STEP = 1.1
"""Growth factor of the results between two simulated looks."""

_FEWEST_DRAWS, _MOST_DRAWS, _NUMBERS = 1_000, 4_000, 2_000_000


class Pair(NamedTuple):
    """Two policies with an established difference."""

    better: str
    worse: str


def step_down(statistics: Floats, nulls: Floats, level: float = LEVEL) -> NDArray[np.bool_]:
    """Returns the rejected hypotheses, with the familywise error rate at the level.

    Args:
        statistics: absolute values of the test statistics of m hypotheses, shape (m,).
        nulls: draws from their joint distribution if all hypotheses hold, shape (draws, m).
        level: familywise error rate, above 0 and below 1.

    Returns:
        Shape (m,).
    """
    rejected = np.zeros(len(statistics), dtype=bool)
    while not rejected.all():
        critical = np.quantile(nulls[:, ~rejected].max(axis=1), 1 - level, method="higher")
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
