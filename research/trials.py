"""Simulated trials of intervals: how often they hold the truth, how wide they are, and how far off the estimate is."""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rating.stats.bradley_terry import Comparisons, standings


class Trial(NamedTuple):
    """One interval.

    Attributes:
        covers: whether the truth is within it; a one-sided one holds all beyond its end.
        half_width: half of its width; not a number if it is one-sided.
        error: how far the estimate is from the truth; not a number if that says nothing.
    """

    covers: bool
    half_width: float
    error: float = float("nan")


@dataclass(frozen=True)
class Setting:
    """A setting in which intervals are tried.

    Attributes:
        name: what is shown.
        run: draws one data set and returns a trial for each interval printed of it.
        goal: lowest and highest coverage that is right.
        share: of the runs asked for, where drawing takes long.
    """

    name: str
    run: Callable[[np.random.Generator], Iterable[Trial]]
    goal: tuple[float, float] = (0.93, 0.97)
    share: float = 1.0


@dataclass(frozen=True)
class Coverage:
    """What came out of a setting.

    Attributes:
        name: of the setting.
        goal: of the setting.
        coverage: share of the intervals that hold the truth.
        noise: standard error of that share: runs are independent, the intervals of one run are not.
        half_width: mean of the two-sided ones.
        error: median distance of the estimate from the truth.
        runs: data sets drawn.
    """

    name: str
    goal: tuple[float, float]
    coverage: float
    noise: float
    half_width: float
    error: float
    runs: int

    @property
    def is_met(self) -> bool:
        """Whether the coverage is within the goal, but for twice the noise of the simulation."""
        return self.goal[0] - 2 * self.noise <= self.coverage <= self.goal[1] + 2 * self.noise


def rated(
    played: Comparisons, strengths: NDArray[np.float64], chosen: NDArray[np.bool_] | None = None
) -> Iterator[Trial]:
    """Compares printed intervals of ratings with the strengths, whose mean over the anchors is taken away.

    Args:
        played: results of policies whose names are their indices.
        strengths: in Elo, shape (n,).
        chosen: those whose intervals are tried, shape (n,); all by default.
    """
    shown = standings(played)
    anchors = [int(row.policy) for row in shown.rows if row.is_anchor]
    for row in shown.rows:
        if chosen is None or chosen[int(row.policy)]:
            truth = 1000 + strengths[int(row.policy)] - strengths[anchors].mean()
            low = -np.inf if row.rating.low is None else row.rating.low
            high = np.inf if row.rating.high is None else row.rating.high
            half = (high - low) / 2 if np.isfinite(high - low) else float("nan")
            yield Trial(bool(low <= truth <= high), half, abs(row.rating.value - truth))


def measure(setting: Setting, runs: int, seed: int) -> Coverage:
    """Tries a setting; a run has the same data whatever the number of runs and the other settings."""
    shares, widths, errors = [], [], []
    runs = max(1, int(runs * setting.share))
    for number in range(runs):
        rng = np.random.default_rng([seed, zlib.crc32(setting.name.encode()), number])
        trials = list(setting.run(rng))
        if trials:
            shares.append(np.mean([trial.covers for trial in trials]))
            widths += [trial.half_width for trial in trials if not np.isnan(trial.half_width)]
            errors += [trial.error for trial in trials if not np.isnan(trial.error)]
    return Coverage(
        setting.name,
        setting.goal,
        float(np.mean(shares)),
        float(np.std(shares) / np.sqrt(len(shares))),
        float(np.mean(widths)) if widths else float("nan"),
        float(np.median(errors)) if errors else float("nan"),
        runs,
    )


def table(lines: Sequence[Coverage]) -> str:
    """Returns the lines as a Markdown table."""
    rows = ["| setting | coverage | ± | goal | half-width | median error | runs | met |", "|---" * 8 + "|"]
    rows += [
        f"| {line.name} | {line.coverage:.3f} | {line.noise:.3f} | {line.goal[0]:.2f}-{line.goal[1]:.2f} |"
        f" {line.half_width:.3g} | {line.error:.3g} | {line.runs} | {'yes' if line.is_met else 'no'} |"
        for line in lines
    ]
    return "\n".join(rows)
