"""Stableness: how mean abilities move as more is played, and after how many matches they stand still.

DeepEval (arXiv 2309.04369, section 3) repeats a task until abilities converge and does not say what that is. Here they stand
still when no mean has changed by ``eps`` over the last ``window`` matches, for ``window`` matches in a row; or when the interval
of every mean is narrow enough.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

_Z_95 = NormalDist().inv_cdf(0.975)


class Step(NamedTuple):
    """The mean of the first matches.

    Attributes:
        mean: of the values so far.
        half_width: of its normal 95 % interval; infinite as long as all values are the same, which tells nothing of others.
    """

    mean: float
    half_width: float


@dataclass(frozen=True)
class StablenessRule:
    """What counts as standing still.

    Attributes:
        window: matches back with which a mean is compared, and matches in a row for which that must hold.
        eps: every mean must have changed by less.
        half_width: of the 95 % intervals; every one must be less.
    """

    window: int = 10
    eps: float = 0.5
    half_width: float = 1.0

    def __post_init__(self) -> None:
        if self.window < 1 or not self.eps > 0 or not self.half_width > 0:
            raise ValueError(f"expected a window of 1 or more, and eps and half_width above 0, got {self}")


@dataclass(frozen=True)
class Stableness:
    """How means moved.

    Attributes:
        steps: by name, the mean after every match.
        changes: after match m (from 0) the largest change of a mean over the window; ``None`` before there is one.
        stable: number of matches after which the means stood still, if they did.
        narrow: number of matches after which all intervals were narrow enough, if they were.
    """

    steps: Mapping[str, Sequence[Step]]
    changes: Sequence[float | None]
    stable: int | None
    narrow: int | None

    @property
    def reason(self) -> str:
        """Which condition held first: ``stable``, ``narrow``, or nothing; ``stable`` if both did at once."""
        if self.stable is not None and (self.narrow is None or self.stable <= self.narrow):
            return "stable"
        return "narrow" if self.narrow is not None else ""

    @property
    def matches(self) -> int | None:
        """Number of matches after which play could have stopped."""
        return {"stable": self.stable, "narrow": self.narrow}.get(self.reason)


def running_means(values: Sequence[float]) -> list[Step]:
    """Returns the mean of the first m values for every m, with its interval (Welford 1962).

    Raises:
        ValueError: if a value is not finite.
    """
    steps = []
    mean = squares = 0.0
    alike = True
    for n, value in enumerate(values, 1):
        if not math.isfinite(value):
            raise ValueError("values: expected finite numbers; leave missing ones out")
        difference = value - mean
        mean += difference / n
        squares += difference * (value - mean)
        alike &= value == values[0]
        steps.append(Step(mean, math.inf if alike else _Z_95 * math.sqrt(squares / (n - 1) / n)))
    return steps


def stableness(values: Mapping[str, Sequence[float]], rule: StablenessRule) -> Stableness:
    """Says after how many matches the means of all players stood still.

    Neither condition is asked before 2 * ``window`` matches of every player, since few values that happen to be alike would
    satisfy both. A player with more matches than others is judged by as many as they have.

    Args:
        values: of each player (in each role), in the order in which they came.
        rule: what counts as standing still.

    Raises:
        ValueError: if a value is not finite.
    """
    steps = {name: running_means(own) for name, own in values.items()}
    common = min(map(len, steps.values()), default=0)
    window, first = rule.window, 2 * rule.window
    changes: list[float | None] = [
        None if m < window else max(abs(own[m].mean - own[m - window].mean) for own in steps.values())
        for m in range(common)
    ]
    stable = narrow = None
    still = 0
    for m, change in enumerate(changes):
        still = still + 1 if change is not None and change < rule.eps else 0
        if stable is None and still >= window:
            stable = m + 1
        if narrow is None and m + 1 >= first and all(own[m].half_width < rule.half_width for own in steps.values()):
            narrow = m + 1
    return Stableness(steps, changes, stable, narrow)
