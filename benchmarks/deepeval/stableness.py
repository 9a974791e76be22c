"""Stableness: convergence of mean abilities over the matches, and the number of matches until convergence.

DeepEval (arXiv 2309.04369) repeats a task until abilities converge and does not define convergence. Here abilities have
converged when no mean has changed by ``eps`` over the last ``window`` matches, for ``window`` consecutive matches; or when the
interval of every mean is narrow enough.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rating.stats.estimates import RunningMean

STABLE, NARROW = "stable", "narrow"


class Step(NamedTuple):
    """The mean of the first matches.

    Attributes:
        mean: of the values up to this match.
        half_width: of its 95 % interval; infinite as long as all deals are equal, which gives no variance estimate.
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


class RunningStableness:
    """Incremental convergence check: values are added one at a time.

    Both conditions are checked from 2 * ``window`` matches of every player, since a few equal values would satisfy both. A player
    with more matches than others is judged on the common number of matches.

    Args:
        names: the players (in each role).
        rule: the convergence rule.

    Attributes:
        steps: by name, the mean after every match.
        changes: after match m (from 0) the largest change of a mean over the window; ``None`` for the first ones.
        stable: number of matches after which the means had converged, if they did.
        narrow: number of matches after which all intervals were narrow enough, if they were.
    """

    def __init__(self, names: Iterable[str], rule: StablenessRule) -> None:
        self.steps: dict[str, list[Step]] = {name: [] for name in names}
        self.changes: list[float | None] = []
        self.stable: int | None = None
        self.narrow: int | None = None
        self._rule = rule
        self._means = {name: RunningMean() for name in self.steps}
        self._still = 0

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

    def add(self, name: str, value: float, deal: Hashable = None) -> None:
        """Adds the next value of a player.

        Args:
            name: of the player.
            value: e.g. its reward in a match.
            deal: the independent case of the value, e.g. the seed of the match; ``None`` for a case of its own.

        Raises:
            ValueError: if the value is not finite.
        """
        self.steps[name].append(_step(self._means[name], value, deal))
        if len(self.steps[name]) == len(self.changes) + 1 and all(
            len(own) > len(self.changes) for own in self.steps.values()
        ):
            self._judge(len(self.changes))

    def leave_out(self, name: str) -> None:
        """Removes a player from the check; the others are checked without it from now on."""
        self.steps.pop(name, None)
        self._means.pop(name, None)
        if self.steps:
            for m in range(len(self.changes), min(map(len, self.steps.values()))):
                self._judge(m)

    def _judge(self, m: int) -> None:
        """Checks match m, from 0; every player has played it."""
        rule, steps = self._rule, self.steps.values()
        change = None if m < rule.window else max(abs(own[m].mean - own[m - rule.window].mean) for own in steps)
        self.changes.append(change)
        self._still = self._still + 1 if change is not None and rule.eps is not None and change < rule.eps else 0
        if self.stable is None and self._still >= rule.window:
            self.stable = m + 1
        if (
            self.narrow is None
            and rule.half_width is not None
            and m + 1 >= 2 * rule.window
            and all(own[m].half_width < rule.half_width for own in steps)
        ):
            self.narrow = m + 1


def _step(mean: RunningMean, value: float, deal: Hashable = None) -> Step:
    """Adds a value to a mean and returns the updated mean."""
    if not math.isfinite(value):
        raise ValueError("values: expected finite numbers; leave missing ones out")
    mean.add(value, deal)
    return Step(mean.mean, mean.half_width() or math.inf)


def running_means(values: Sequence[float]) -> list[Step]:
    """Returns the mean of the first m values for every m, with its interval.

    Raises:
        ValueError: if a value is not finite.
    """
    mean = RunningMean()
    return [_step(mean, value) for value in values]


def stableness(values: Mapping[str, Sequence[float]], rule: StablenessRule) -> RunningStableness:
    """Returns the convergence of the means of all players.

    Args:
        values: of each player (in each role), in chronological order.
        rule: the convergence rule.

    Raises:
        ValueError: if a value is not finite.
    """
    result = RunningStableness(values, rule)
    for name, own in values.items():
        for value in own:
            result.add(name, value)
    return result
