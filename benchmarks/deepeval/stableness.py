"""Stableness: how mean abilities move as more is played, and after how many matches they stand still.

DeepEval (arXiv 2309.04369) repeats a task until abilities converge and does not say what that is. Here they stand
still when no mean has changed by ``eps`` over the last ``window`` matches, for ``window`` matches in a row; or when the interval
of every mean is narrow enough.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rating.statistics.running_mean import RunningMean

STABLE, NARROW = "stable", "narrow"


class Step(NamedTuple):
    """The mean of the first matches.

    Attributes:
        mean: of the values so far.
        half_width: of its 95 % interval; infinite as long as all deals are alike, which tells nothing of others.
    """

    mean: float
    half_width: float


@dataclass(frozen=True)
class StablenessRule:
    """What counts as standing still; a condition that is ``None`` never holds.

    Attributes:
        window: matches back with which a mean is compared, and matches in a row for which that must hold.
        eps: every mean must have changed by less.
        half_width: of the 95 % intervals; every one must be less.
    """

    window: int = 10
    eps: float | None = 0.5
    half_width: float | None = 1.0

    def __post_init__(self) -> None:
        limits = [limit for limit in (self.eps, self.half_width) if limit is not None]
        if self.window < 1 or not all(limit > 0 for limit in limits):
            raise ValueError(f"expected a window of 1 or more, and eps and half_width above 0, got {self}")


class RunningStableness:
    """How means move, folded: values are taken as they come.

    Neither condition is asked before 2 * ``window`` matches of every player, since few values that happen to be alike would
    satisfy both. A player with more matches than others is judged by as many as they have.

    Args:
        names: the players (in each role).
        rule: what counts as standing still.

    Attributes:
        steps: by name, the mean after every match.
        changes: after match m (from 0) the largest change of a mean over the window; ``None`` before there is one.
        stable: number of matches after which the means stood still, if they did.
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
        """Which condition held first: ``stable``, ``narrow``, or nothing; ``stable`` if both did at once."""
        if self.stable is not None and (self.narrow is None or self.stable <= self.narrow):
            return STABLE
        return NARROW if self.narrow is not None else ""

    @property
    def matches(self) -> int | None:
        """Number of matches after which play could have stopped."""
        return {STABLE: self.stable, NARROW: self.narrow}.get(self.reason)

    def add(self, name: str, value: float, deal: Hashable = None) -> None:
        """Takes the next value of a player.

        Args:
            name: of the player.
            value: e.g. its reward in a match.
            deal: the independent case it belongs to, e.g. the seed of the match; ``None`` if it is one by itself.

        Raises:
            ValueError: if it is not finite.
        """
        self.steps[name].append(_step(self._means[name], value, deal))
        if len(self.steps[name]) == len(self.changes) + 1 and all(
            len(own) > len(self.changes) for own in self.steps.values()
        ):
            self._judge(len(self.changes))

    def leave_out(self, name: str) -> None:
        """Waits no longer for a player; the others are looked at as if it had not been there from now on."""
        self.steps.pop(name, None)
        self._means.pop(name, None)
        if self.steps:
            for m in range(len(self.changes), min(map(len, self.steps.values()))):
                self._judge(m)

    def _judge(self, m: int) -> None:
        """Looks at match m, from 0, which every player has had."""
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
    """Adds a value to a mean and returns what is known of it then."""
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
    """Says after how many matches the means of all players stood still.

    Args:
        values: of each player (in each role), in the order in which they came.
        rule: what counts as standing still.

    Raises:
        ValueError: if a value is not finite.
    """
    result = RunningStableness(values, rule)
    for name, own in values.items():
        for value in own:
            result.add(name, value)
    return result
