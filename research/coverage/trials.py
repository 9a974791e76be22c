"""Trials of intervals: how often they hold the truth, and how wide they are."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

AT_LEAST = (0.93, 1.0)
"""Goal where results are so coarse, or claims so careful, that more than 95 % are right."""


class Trial(NamedTuple):
    """One interval.

    Attributes:
        covers: whether the truth is within it; a one-sided one holds all beyond its end.
        half_width: half of its width; not a number if it is one-sided.
    """

    covers: bool
    half_width: float = float("nan")


@dataclass(frozen=True)
class Setting:
    """A row of the table.

    Attributes:
        name: name of the row.
        run: draws one data set and returns a trial for each interval printed of it.
        goal: lowest and highest coverage that is right.
        share: share of the data sets asked for, where drawing takes long.
    """

    name: str
    run: Callable[[np.random.Generator], Iterable[Trial]]
    goal: tuple[float, float] = (0.93, 0.97)
    share: float = 1.0


@dataclass(frozen=True)
class Coverage:
    """Result of a setting.

    Attributes:
        setting: the setting.
        coverage: share of the intervals that hold the truth.
        noise: standard error of that share: runs are independent, the intervals of one run are not.
        half_width: mean of the two-sided ones.
        runs: number of data sets.
    """

    setting: Setting
    coverage: float
    noise: float
    half_width: float
    runs: int

    @property
    def is_met(self) -> bool:
        """Whether the coverage is within the goal, but for twice the noise of the simulation."""
        low, high = self.setting.goal
        return low - 2 * self.noise <= self.coverage <= high + 2 * self.noise


def trial(low: float | None, high: float | None, truth: float) -> Trial:
    """Compares an interval with the truth; an end that is ``None`` is open."""
    covers = (low is None or low <= truth) and (high is None or truth <= high)
    return Trial(bool(covers), float("nan") if low is None or high is None else (high - low) / 2)


def two_sided(low: float | None, high: float | None, truth: float) -> Iterator[Trial]:
    """Yields the trial of an interval with two ends, and nothing for any other."""
    if low is not None and high is not None:
        yield trial(low, high, truth)


def measure(setting: Setting, runs: int, seed: int) -> Coverage:
    """Measures a setting; a run's data do not depend on the number of runs or on other settings."""
    shares, widths = [], []
    runs = max(1, int(runs * setting.share))
    for number in range(runs):
        rng = np.random.default_rng([seed, zlib.crc32(setting.name.encode()), number])
        trials = list(setting.run(rng))
        if trials:
            shares.append(np.mean([trial.covers for trial in trials]))
            widths += [trial.half_width for trial in trials if not np.isnan(trial.half_width)]
    return Coverage(
        setting,
        float(np.mean(shares)),
        float(np.std(shares) / np.sqrt(len(shares))),
        float(np.mean(widths)) if widths else float("nan"),
        runs,
    )


def table(lines: Sequence[Coverage]) -> str:
    """Returns the results as a Markdown table."""
    rows = ["| setting | coverage | ± | goal | half-width | runs | met |", "|---" * 7 + "|"]
    for line in lines:
        low, high = line.setting.goal
        rows.append(
            f"| {line.setting.name} | {line.coverage:.3f} | {line.noise:.3f} | {low:.2f}-{high:.2f} |"
            f" {line.half_width:.3g} | {line.runs} | {'yes' if line.is_met else 'no'} |"
        )
    return "\n".join(rows)
