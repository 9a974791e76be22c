"""Figures of a leaderboard, as data; the report draws them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rating.schemes.leaderboard import LeaderboardRow
from rating.stats.bradley_terry import Comparisons, win_tie_loss_counts
from rating.stats.estimates import Estimate
from rating.stats.results import WinDrawLoss


@dataclass(frozen=True)
class Intervals:
    """A value with its interval for every policy.

    Attributes:
        rows: policy, value, lower and upper end, ``None`` if the end is open; best first.
        label: name of the value.
    """

    rows: Sequence[tuple[str, float, float | None, float | None]]
    label: str


@dataclass(frozen=True)
class Groups:
    """Several values with their intervals for every policy.

    Attributes:
        parts: names of the values, e.g. seats.
        rows: policy and a value for each part, ``None`` if it is missing.
        label: common name of the values.
    """

    parts: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Estimate | None]]]
    label: str


@dataclass(frozen=True)
class Shares:
    """Parts of a whole for every policy.

    Attributes:
        parts: names of the parts.
        rows: policy and the size of each part.
        label: name of the sizes.
    """

    parts: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float]]]
    label: str


@dataclass(frozen=True)
class Trajectories:
    """A rating after every match.

    Attributes:
        history: match number, mean and standard deviation after each match, by policy.
        label: name of the rating.
    """

    history: Mapping[str, Sequence[tuple[int, float, float]]]
    label: str


@dataclass(frozen=True)
class HeadToHead:
    """The results of every policy against every other.

    Attributes:
        table: row, then column; ``None`` for pairs that never met.
    """

    table: Mapping[str, Mapping[str, WinDrawLoss | None]]


@dataclass(frozen=True)
class Matrix:
    """A mean for every pair of policies.

    Attributes:
        table: row, then column; ``None`` if it is missing.
        label: name of the averaged value.
        percent: whether the means are shares, 0 to 1.
    """

    table: Mapping[str, Mapping[str, Estimate | None]]
    label: str
    percent: bool = False


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes:
        title: title.
        header: heading of each column.
        rows: texts of each row; the first one is its name.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


Figure = Intervals | Groups | Trajectories | HeadToHead | Matrix | Grid


def estimate_figure(rows: Iterable[tuple[str, Estimate | None]], label: str) -> list[Figure]:
    """Returns a figure with the estimate of every policy that has one; an empty list without any.

    An estimate without an interval has two open ends.
    """
    shown = [(policy, value.value, value.low, value.high) for policy, value in rows if value is not None]
    return [Intervals(shown, label)] if shown else []


def rating_figure(rows: Iterable[LeaderboardRow]) -> list[Figure]:
    """Returns a figure with the rating of every policy that has one; an empty list without any."""
    shown = [(row.policy, *row.rating[:3]) for row in rows if row.rating is not None]
    return [Intervals(shown, "Bradley-Terry rating in Elo with its 95 % interval")] if shown else []


def pair_figure(names: Sequence[str], comparisons: Comparisons) -> list[Figure]:
    """Returns the results of every pair of policies; an empty list without any.

    Args:
        names: policies in the order of the table; those without a result are left out.
        comparisons: results of pairs.
    """
    table, place = win_tie_loss_counts(comparisons), {name: index for index, name in enumerate(comparisons.policies)}
    shown = [name for name in names if name in place]

    def tally(one: str, other: str) -> WinDrawLoss | None:
        counts = table[place[one], place[other]]
        return WinDrawLoss(*map(int, counts)) if counts.any() else None

    return [HeadToHead({one: {other: tally(one, other) for other in shown} for one in shown})] if shown else []


def running_means(values: Iterable[tuple[int, str, float]], label: str) -> list[Figure]:
    """Returns the mean of every policy after each of its matches; an empty list without a match.

    The standard error treats matches as independent. The figure shows the convergence of a mean; its uncertainty is in the table.

    Args:
        values: match number, policy and value, in match order.
        label: name of the averaged value.
    """
    history: dict[str, list[tuple[int, float, float]]] = {}
    moments: dict[str, tuple[int, float, float]] = {}
    for number, policy, value in values:
        count, mean, squares = moments.get(policy, (0, 0.0, 0.0))
        # Welford's recurrence is numerically stable.
        count, lead = count + 1, value - mean
        mean += lead / count
        squares += lead * (value - mean)
        moments[policy] = count, mean, squares
        error = math.sqrt(squares / (count - 1) / count) if count > 1 else 0.0
        history.setdefault(policy, []).append((number, mean, error))
    shown = {policy: history[policy] for policy in sorted(history)}
    return [Trajectories(shown, f"{label} ± its standard error")] if shown else []
