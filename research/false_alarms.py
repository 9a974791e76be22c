"""Comparing two policies: false alarms of ``llmarena compare`` under any stopping, and the pairs that it takes.

    OMP_NUM_THREADS=1 python -m research.false_alarms
    python -m research.false_alarms --smoke

The unit is a pair of matches on one deal with the seats exchanged, its score the mean of both. *False alarms*: two policies of
The unit is a pair of matches on one deal with the seats exchanged, its score the mean of both. *False alarms*: two equal
policies are compared after every pair, and one is called better at any of the looks. Beside the bets of
looked at once.

*Pairs until decided*: one policy wins a share of its matches above a half. Beside it stand the pairs that the best design of
fixed size needs, given that share: the test of the mean with a level of 5 % and a power of 90 %, one-sided
(given the better policy as well) and two-sided, by the normal approximation with the true variance. The bets need
neither.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from benchmarks.options import option, parse
from rating.stats.betting import log_evidence

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Floats]

LEVEL = 0.05
POWER = 0.9
FIRST_LOOK = 10
_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class Options:
    """Options of the study."""

    runs: int = option(1_000, "comparisons of each line", smoke=20)
    looks: int = option(4_000, "pairs; the test is applied after each", smoke=60)
    seed: int = option(2026, "of the scores")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Alarms:
    """False alarms among policies that are alike, as shares of the comparisons.

    Attributes:
        null: how their scores come about.
        betting: called better at any look.
        peeking: the z-test, at any look.
        once: the z-test, looked at after the last pair.
        runs: comparisons.
    """

    null: str
    betting: float
    peeking: float
    once: float
    runs: int


@dataclass(frozen=True)
class Pairs:
    """Pairs that a decision takes.

    Attributes:
        edge: share of its matches that the better policy wins, less a half.
        ties: share of matches that are ties.
        mean: pairs until the bets have decided, mean.
        most: the same, which nine of ten comparisons do not exceed.
        wrong: share of comparisons that called the weaker one better.
        one_sided: pairs of a design of fixed size, given the better policy.
        two_sided: pairs of a design of fixed size, not given it.
    """

    edge: float
    ties: float
    mean: float
    most: float
    wrong: float
    one_sided: int
    two_sided: int


def matches(
    rng: np.random.Generator, shape: tuple[int, int], edge: float = 0.0, ties: float = 0.0, seat: float = 0.0
) -> Floats:
    """Draws the scores of pairs: on either seat the first policy wins by ``edge`` more than half of the decided matches."""
    both = np.zeros(shape)
    for side in (seat, -seat):
        won = (rng.random(shape) < 0.5 + edge / (1 - ties) + side).astype(float)
        won[rng.random(shape) < ties] = 0.5
        both += won / 2
    return both


def _tied(share: float) -> Draw:
    return lambda rng, runs, looks: matches(rng, (runs, looks), ties=share)


def _alike(rng: np.random.Generator, runs: int, looks: int) -> Floats:
    """Deals decide: half of them are tied in both matches, the others are won by one policy from both seats."""
    scores = rng.integers(0, 2, (runs, looks)).astype(float)
    scores[rng.random((runs, looks)) < 0.5] = 0.5
    return scores


def _drifting(rng: np.random.Generator, runs: int, looks: int) -> Floats:
    """Scores scatter widely while the first policy is behind, and hardly once it is ahead."""
    scores, lead = np.empty((runs, looks)), np.zeros(runs)
    for look in range(looks):
        scores[:, look] = 0.5 + np.where(lead <= 0, 0.5, 0.05) * rng.choice((-1.0, 1.0), runs)
        lead += scores[:, look] - 0.5
    return scores


def _fractional(rng: np.random.Generator, runs: int, looks: int) -> Floats:
    return rng.beta(2, 2, (runs, looks))


def _skewed(rng: np.random.Generator, runs: int, looks: int) -> Floats:
    """One in twenty is won, the others are lost by a little."""
    return np.where(rng.random((runs, looks)) < 0.05, 1.0, 9 / 19)


NULLS: dict[str, Draw] = {
    "no ties": _tied(0.0),
    "10 % ties": _tied(0.1),
    "30 % ties": _tied(0.3),
    "50 % ties": _tied(0.5),
    "first seat wins 80 %": lambda rng, runs, looks: matches(rng, (runs, looks), seat=0.3),
    "both matches of a deal end alike": _alike,
    "scatter depends on the lead": _drifting,
    "fractional scores": _fractional,
    "skewed: rarely won, often lost by little": _skewed,
}

EDGES = ((0.2, 0.0), (0.1, 0.0), (0.05, 0.0), (0.1, 0.3), (0.05, 0.5))
"""Edge and share of ties of each line."""


def alarms(null: str, options: Options) -> Alarms:
    """Counts the false alarms of one null hypothesis."""
    rng = np.random.default_rng([options.seed, list(NULLS).index(null)])
    betting, peeking, once = 0, 0, 0
    for runs in _parts(options.runs, options.looks):
        scores = NULLS[null](rng, runs, options.looks)
        betting += int(np.count_nonzero(decided(scores) <= options.looks))
        beyond = np.abs(z_values(scores)) > NormalDist().inv_cdf(1 - LEVEL / 2)
        peeking += int(np.count_nonzero(beyond[:, FIRST_LOOK - 1 :].any(axis=1)))
        once += int(np.count_nonzero(beyond[:, -1]))
    return Alarms(null, betting / options.runs, peeking / options.runs, once / options.runs, options.runs)


def decided(scores: Floats) -> NDArray[np.int64]:
    """Returns the number of pairs until one policy is called better; one more than the number of pairs for never."""
    return np.minimum(_reached(scores), _reached(1 - scores))


def _reached(scores: Floats) -> NDArray[np.int64]:
    hit = log_evidence(scores, 0.5) >= np.log(2 / LEVEL)
    return np.where(hit.any(axis=1), hit.argmax(axis=1) + 1, scores.shape[1] + 1)


def z_values(scores: Floats) -> Floats:
    """Returns the z-value after each pair; 0 where the scores do not scatter."""
    number = np.arange(1, scores.shape[1] + 1)
    mean = np.cumsum(scores, axis=1) / number
    variance = np.maximum(np.cumsum((scores - 0.5) ** 2, axis=1) / number - (mean - 0.5) ** 2, 0)
    error = np.sqrt(variance / np.maximum(number - 1, 1))
    return np.divide(mean - 0.5, error, out=np.zeros_like(mean), where=error > 1e-9)


def pairs(edge: float, ties: float, options: Options) -> Pairs:
    """Counts the pairs that a decision takes at one strength."""
    rng = np.random.default_rng([options.seed, round(100 * edge), round(100 * ties)])
    looks = 60 if options.smoke else round(25 / edge**2)
    ends, wrong = [], 0
    for runs in _parts(options.runs, looks):
        scores = matches(rng, (runs, looks), edge=edge, ties=ties)
        ends.append(decided(scores))
        wrong += int(np.count_nonzero(_reached(1 - scores) < _reached(scores)))
    deviation = float(scores.std())
    all_ends = np.concatenate(ends)
    return Pairs(
        edge,
        ties,
        float(all_ends.mean()),
        float(np.quantile(all_ends, 0.9)),
        wrong / options.runs,
        fixed_size(edge, deviation, LEVEL),
        fixed_size(edge, deviation, LEVEL / 2),
    )


def fixed_size(edge: float, deviation: float, level: float) -> int:
    """Returns the number of pairs of a design of fixed size."""
    normal = NormalDist()
    return int(np.ceil(((normal.inv_cdf(1 - level) + normal.inv_cdf(POWER)) * deviation / edge) ** 2))


def _parts(runs: int, looks: int) -> Iterator[int]:
    """Yields numbers of runs that are simulated at once."""
    size = max(1, _AT_ONCE // looks)
    for start in range(0, runs, size):
        yield min(size, runs - start)


def main() -> None:
    """Simulates and prints both tables."""
    options = parse(Options, __doc__)
    start = time.perf_counter()
    print(f"False alarms, in % of {options.runs:,} comparisons with {options.looks:,} looks\n")
    print("| neither is better | bets, any look | z-test, any look | z-test, last look only |\n|---|---|---|---|")
    for null in NULLS:
        found = alarms(null, options)
        print(
            f"| {null} | {100 * found.betting:.1f} | {100 * found.peeking:.1f} | {100 * found.once:.1f} |", flush=True
        )
    print(f"\nPairs until decided, {options.runs:,} comparisons, two-sided at {LEVEL:.0%}\n")
    header = (
        "edge",
        "ties",
        "bets, mean",
        "nine of ten",
        "wrong, %",
        "fixed, one-sided",
        "mean / that",
        "two-sided",
        "mean / that",
    )
    print(f"| {' | '.join(header)} |\n{'|---' * len(header)}|")
    for edge, ties in EDGES:
        row = pairs(edge, ties, options)
        print(
            f"| {edge:.2f} | {ties:.0%} | {row.mean:.0f} | {row.most:.0f} | {100 * row.wrong:.1f} | {row.one_sided} |"
            f" {row.mean / row.one_sided:.2f} | {row.two_sided} | {row.mean / row.two_sided:.2f} |",
            flush=True,
        )
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
