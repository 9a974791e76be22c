"""Differences of means on common deals: power, and false separations of equals.

    OMP_NUM_THREADS=1 python -m research.paired_means
    python -m research.paired_means --smoke

The value of a policy on a deal is its mean, plus the deal's common effect (sd 1), plus noise of its own (sd 1). *Power*:
how often two policies whose means differ by .35 are resolved: by ranks, by the paired t-test, by disjoint 95 % intervals.
*Equals*: how often any pair of a pool of equals is resolved. The t-tests are of each pair by itself. Skewed noise is
exponential.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

from benchmarks.options import option, parse
from rating.stats.estimates import mean_estimate
from rating.stats.simultaneous import DealResult, established

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator], Floats]

DIFFERENCE = 0.35


@dataclass(frozen=True)
class Options:
    """Options of the study."""

    runs: int = option(600, "data sets of each row", smoke=3)
    seed: int = option(2026, "of everything drawn")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Row:
    """Shares of the data sets that resolve any pair.

    Attributes:
        name: description of the data.
        ranks: by the ranks of leaderboards.
        tests: by paired t-tests, each pair by itself.
        intervals: by two 95 % intervals that do not meet.
    """

    name: str
    ranks: float
    tests: float
    intervals: float


def rows() -> Iterator[tuple[str, Draw]]:
    """Yields the name of each row and its generator: the value of each policy on each deal."""
    for deals in (30, 100):
        yield f"two, {DIFFERENCE} apart, {deals} deals", partial(drawn, deals=deals, policies=2, lead=DIFFERENCE)
    for policies, deals in itertools.product((2, 4, 8, 14), (8, 30, 100)):
        yield f"{policies} equals, {deals} deals", partial(drawn, deals=deals, policies=policies)
    for deals in (8, 30):
        yield f"8 equals, {deals} deals, skewed", partial(drawn, deals=deals, policies=8, is_skewed=True)


def drawn(rng: np.random.Generator, *, deals: int, policies: int, lead: float = 0.0, is_skewed: bool = False) -> Floats:
    """Returns values, shape (deals, policies)."""
    shape = (deals, policies)
    noise = rng.exponential(size=shape) if is_skewed else rng.normal(size=shape)
    values: Floats = rng.normal(size=(deals, 1)) + noise
    values[:, 0] += lead
    return values


def measure(name: str, draw: Draw, options: Options) -> Row:
    """Draws the data sets of a row; each depends on its number only, not on the number of runs."""
    found = []
    for number in range(options.runs):
        values = draw(np.random.default_rng([options.seed, *name.encode(), number]))
        cases = [DealResult(str(place), deal, float(value)) for (deal, place), value in np.ndenumerate(values)]
        found.append((bool(established(cases)), any_test(values), any_apart(values)))
    ranks, tests, intervals = np.mean(found, axis=0).tolist()
    return Row(name, ranks, tests, intervals)


def any_test(values: Floats) -> bool:
    """Says whether the paired t-test of any pair is significant."""
    first, second = np.triu_indices(values.shape[1], 1)
    return bool((ttest_1samp(values[:, first] - values[:, second], 0).pvalue < 0.05).any())


def any_apart(values: Floats) -> bool:
    """Says whether the intervals of any two policies do not meet."""
    lows, highs = [], []
    for column in values.T:
        estimate = mean_estimate(column.tolist())
        if estimate is not None and estimate.low is not None and estimate.high is not None:
            lows.append(estimate.low)
            highs.append(estimate.high)
    return max(lows) > min(highs)


def main(show: Callable[[str], object] = print) -> None:
    """Simulates and prints the table."""
    options = parse(Options, __doc__)
    show("| policies | ranks | t-tests, each by itself | intervals do not meet |\n|---|---|---|---|")
    for name, draw in rows():
        row = measure(name, draw, options)
        show(f"| {row.name} | {row.ranks:.3f} | {row.tests:.3f} | {row.intervals:.3f} |")


if __name__ == "__main__":
    main()
