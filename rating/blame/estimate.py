"""Effects of replies with simultaneous intervals.

The pairs of different turns are independent, since each has random numbers of its own. So the distribution of the largest
absolute t statistic is the product of Student's distributions, and its quantile (max-t) widens all intervals: together they
cover all effects in 95 % of analyses. Sidak's inequality makes the same quantile conservative for dependent normal means.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import optimize, stats

LEVEL = 0.95
"""Probability that all intervals of an analysis cover."""

FEWEST = 8
"""Fewest pairs of an interval."""


class Effect(NamedTuple):
    """The cost of a reply.

    Attributes:
        mean: estimate.
        low: lower end of its simultaneous interval.
        high: upper end.
        n: number of pairs.
        error: standard error.
    """

    mean: float
    low: float
    high: float
    n: int
    error: float


def max_t_quantile(degrees: Sequence[int]) -> float:
    """Returns the 95 % quantile of the largest absolute value of independent t statistics.

    Args:
        degrees: degrees of freedom of each.
    """

    def excess(bound: float) -> float:
        return float(np.log1p(-2 * stats.t.sf(bound, np.array(degrees))).sum() - math.log(LEVEL))

    return float(optimize.brentq(excess, 0.1, 1e6))


def effects(samples: Sequence[Sequence[float]]) -> list[Effect | None]:
    """Returns the mean of each sample with simultaneous intervals; ``None`` for fewer than ``FEWEST`` values."""
    known = [len(sample) for sample in samples if len(sample) >= FEWEST]
    bound = max_t_quantile([size - 1 for size in known]) if known else math.nan
    found: list[Effect | None] = []
    for sample in samples:
        n = len(sample)
        if n < FEWEST:
            found.append(None)
            continue
        mean, error = float(np.mean(sample)), float(np.std(sample, ddof=1)) / math.sqrt(n)
        found.append(Effect(mean, mean - bound * error, mean + bound * error, n, error))
    return found


def pairs_needed(found: Sequence[Effect | None], least: float = 0.0) -> int | None:
    """Returns how many pairs would establish the clearest cost if its estimate holds; ``None`` without one.

    Args:
        found: the effects.
        least: smallest cost that counts.
    """
    needed = [
        math.ceil(each.n * ((each.mean - each.low) / (each.mean - least)) ** 2)
        for each in found
        if each and each.mean > least
    ]
    return min(needed, default=None)
