"""Whether draws come as often as they should."""

import copy
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np


def redrawn(
    game: Any, agent: str, what: Callable[[Any], Hashable], *, seed: int = 0, draws: int = 2000
) -> Counter[Any]:
    """Counts what many redrawn positions hold."""
    rng = np.random.default_rng(seed)
    counts: Counter[Any] = Counter()
    for _ in range(draws):
        other = copy.copy(game)
        other.resample(agent, rng)
        counts[what(other)] += 1
    return counts


def check_frequencies(counts: Mapping[Any, float], weights: Mapping[Any, float]) -> None:
    """Checks counts against relative weights: nothing without weight, and Pearson's statistic within what chance allows.

    The bound is beyond the 99.99th percentile of chi-square for any number of degrees of freedom.
    """
    assert set(counts) <= {what for what, weight in weights.items() if weight}
    total, draws = sum(weights.values()), sum(counts.values())
    expected = {what: draws * weight / total for what, weight in weights.items() if weight}
    statistic = sum((counts.get(what, 0) - mean) ** 2 / mean for what, mean in expected.items())
    freedom = len(expected) - 1
    assert statistic < freedom + 4 * (2 * freedom) ** 0.5 + 10, (statistic, freedom, counts)
