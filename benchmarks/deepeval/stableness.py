"""Stableness: convergence of mean abilities over the matches, and the number of matches until convergence.

DeepEval (arXiv 2309.04369) repeats a task until abilities converge and does not define convergence. Here abilities have
converged when no mean has changed by ``eps`` over the last ``window`` matches, for ``window`` consecutive matches; or when the
interval of every mean is narrow enough.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rating.stats.estimates import RunningMean

STABLE, NARROW = "stable", "narrow"


class Step(NamedTuple):
    """The mean of the first matches.

    Attributes:
        mean: of the values up to this match.
        half_width: of its 95 % interval; infinite as long as all values are equal, which gives no variance estimate.
    """

    mean: float
    half_width: float


@dataclass(frozen=True)
class StablenessRule:
    """A convergence rule; a condition that is ``None`` never holds.

    Attributes:
        window: matches over which a change is measured, and consecutive matches for which the condition must hold.
        eps: upper bound of the change of every mean.
        half_width: upper bound of the half-widths of the 95 % intervals.
    """

    window: int = 10
    eps: float | None = 0.5
    half_width: float | None = 1.0

    def __post_init__(self) -> None:
        limits = [limit for limit in (self.eps, self.half_width) if limit is not None]
        if self.window < 1 or not all(limit > 0 for limit in limits):
            raise ValueError(f"expected a window of 1 or more, and eps and half_width above 0, got {self}")


@dataclass(frozen=True)
class Stableness:
    """The convergence of the means of some players.

    Attributes:
        steps: by name, the mean after every match.
        changes: after match m (from 0) the largest change of a mean over the window; ``None`` for the first ones. A player with
            more matches than others is judged on the common number of matches.
        stable: number of matches after which the means had converged, if they did.
        narrow: number of matches after which all intervals were narrow enough, if they were.
    """

    steps: Mapping[str, Sequence[Step]]
    changes: Sequence[float | None]
    stable: int | None
    narrow: int | None

    @property
    def reason(self) -> str:
        """The condition that held first: ``stable``, ``narrow``, or empty; ``stable`` if both held at once."""
        if self.stable is not None and (self.narrow is None or self.stable <= self.narrow):
            return STABLE
        return NARROW if self.narrow is not None else ""

    @property
    def matches(self) -> int | None:
        """Number of matches after which play could have stopped."""
        return {STABLE: self.stable, NARROW: self.narrow}.get(self.reason)


def running_means(values: Sequence[float]) -> list[Step]:
    """Returns the mean of the first m values for every m, with its interval.

    Raises:
        ValueError: if a value is not finite.
    """
    mean, steps = RunningMean(), []
    for value in values:
        if not math.isfinite(value):
            raise ValueError("values: expected finite numbers; leave missing ones out")
        mean.add(value, None)
        steps.append(Step(mean.mean, mean.half_width() or math.inf))
    return steps


def stableness(values: Mapping[str, Sequence[float]], rule: StablenessRule) -> Stableness:
    """Returns the convergence of the means of all players.

    Both conditions are checked from 2 * ``window`` matches of every player, since a few equal values would satisfy both.

    Args:
        values: of each player (in each role), in chronological order.
        rule: the convergence rule.

    Raises:
        ValueError: if a value is not finite.
    """
    steps = {name: running_means(own) for name, own in values.items()}
    changes: list[float | None] = []
    stable = narrow = None
    still = 0
    for m in range(min(map(len, steps.values()), default=0)):
        past = m - rule.window
        change = None if past < 0 else max(abs(own[m].mean - own[past].mean) for own in steps.values())
        changes.append(change)
        still = still + 1 if change is not None and rule.eps is not None and change < rule.eps else 0
        if stable is None and still >= rule.window:
            stable = m + 1
        close = rule.half_width is not None and all(own[m].half_width < rule.half_width for own in steps.values())
        if narrow is None and close and m + 1 >= 2 * rule.window:
            narrow = m + 1
    return Stableness(steps, changes, stable, narrow)
