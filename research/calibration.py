"""How often the calibration check of a report flags predictions, by simulation: for correct ratings, and for others.

    python -m research.calibration

Every result is predicted from ratings fitted without its deal. A group of predictions is off if its mean prediction is outside
the 95 % interval of the observed results: one in twenty by chance where one scale explains all, more where none does.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.options import option, parse
from rating.stats.calibration import calibrate, predict
from research.pools import POOLS
from research.transitivity import Setting, play, pool_table


@dataclass(frozen=True)
class Options:
    """Options of the study."""

    runs: int = option(100, "pools of each row", smoke=2)
    seed: int = option(0, "of everything drawn")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Line:
    """A row of the table.

    Attributes:
        setting: the simulated pool.
        off: share of the groups of all pools that are off.
        better: share of the pools whose ratings the report says predict better than a guess.
        worse: share of the pools whose ratings the report says predict worse.
        gain: mean Brier score of the guess less the one of the ratings.
    """

    setting: Setting
    off: float
    better: float
    worse: float
    gain: float


def settings() -> list[Setting]:
    """Returns the rows."""
    a, equals, three = POOLS["A"], np.zeros(5), np.zeros(3)
    return [
        Setting("pool A, 5 deals", a, 5),
        Setting("pool A, 20 deals", a, 20),
        Setting("pool A, 20 deals, half of the matches tied", a, 20, ties=0.5),
        Setting("pool A, 20 deals, both seats mostly alike", a, 20, alike=0.8),
        Setting("pool D, 20 deals", POOLS["D"], 20),
        Setting("five equals, 20 deals", equals, 20),
        Setting("rock, paper, scissors by 150 Elo, 20 deals", three, 20, circle=150.0),
        Setting("pool A, pairs scatter by 150 Elo, 20 deals", a, 20, scatter=150.0),
    ]


def measure(setting: Setting, options: Options) -> Line:
    """Predicts the results of pools of one setting."""
    off, better, worse, gains = list[bool](), 0, 0, list[float]()
    for run in range(options.runs):
        comparisons = play(setting, np.random.default_rng([options.seed, run]))
        predictions = predict(comparisons)
        assert predictions is not None
        found = calibrate(comparisons, predictions)
        off += [not group.is_met for group in found.groups]
        better += found.gain.low is not None and found.gain.low > 0
        worse += found.gain.high is not None and found.gain.high < 0
        gains.append(found.gain.value)
    runs = options.runs
    return Line(setting, float(np.mean(off)), better / runs, worse / runs, float(np.mean(gains)))


def table(lines: Sequence[Line]) -> str:
    """Returns the rows as a table in Markdown."""
    return pool_table(
        ["groups off", "better than a guess", "worse", "Brier score smaller by"],
        [
            (line.setting, [f"{line.off:.3f}", f"{line.better:.2f}", f"{line.worse:.2f}", f"{line.gain:.4f}"])
            for line in lines
        ],
    )


def main(options: Options) -> list[Line]:
    """Simulates and prints the table."""
    lines = [measure(setting, options) for setting in settings()]
    print(table(lines))
    return lines


if __name__ == "__main__":
    main(parse(Options, __doc__))
