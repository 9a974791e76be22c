"""What a leaderboard has to show besides its table, as data; the report draws it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rating.statistics.estimates import Estimate, WinDrawLoss


@dataclass(frozen=True)
class Intervals:
    """A value with its interval for every policy.

    Attributes:
        rows: policy, value, lower and upper end, ``None`` if the end is open; best first.
        label: what the value is.
    """

    rows: Sequence[tuple[str, float, float | None, float | None]]
    label: str


@dataclass(frozen=True)
class Groups:
    """Several values with their intervals for every policy.

    Attributes:
        parts: what the values belong to, e.g. seats.
        rows: policy and a value for each part, ``None`` where there is none.
        label: what the values are.
    """

    parts: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Estimate | None]]]
    label: str


@dataclass(frozen=True)
class Shares:
    """Parts of a whole for every policy.

    Attributes:
        parts: what they are.
        rows: policy and the size of each part.
        label: what the sizes are of.
    """

    parts: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float]]]
    label: str


@dataclass(frozen=True)
class Trajectories:
    """A rating after every match.

    Attributes:
        history: match number, mean and standard deviation after each match, by policy.
        label: what the rating is.
    """

    history: Mapping[str, Sequence[tuple[int, float, float]]]
    label: str


@dataclass(frozen=True)
class HeadToHead:
    """The results of every policy against every other.

    Attributes:
        table: row, then column; ``None`` where two never met.
    """

    table: Mapping[str, Mapping[str, WinDrawLoss | None]]


@dataclass(frozen=True)
class Matrix:
    """A mean for every two policies.

    Attributes:
        table: row, then column; ``None`` where there is none.
        label: what the means are of.
        percent: whether they are shares, 0 to 1.
    """

    table: Mapping[str, Mapping[str, Estimate | None]]
    label: str
    percent: bool = False


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes:
        title: what it shows.
        header: heading of each column.
        rows: cells of each row; the first one is its name.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


Figure = Intervals | Groups | Trajectories | HeadToHead | Matrix | Grid


def estimate_figure(rows: Iterable[tuple[str, Estimate | None]], label: str) -> list[Figure]:
    """Returns the figure of an estimate for every policy that has one; none if nobody has.

    Where an estimate has no interval, both ends are open: nothing is known of how far off it is.
    """
    shown = [(policy, value.value, value.low, value.high) for policy, value in rows if value is not None]
    return [Intervals(shown, label)] if shown else []
