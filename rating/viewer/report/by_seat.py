"""Results by seat, role and drawn side, with intervals: the advantage of a place."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rating.schemes import caveats, formatting
from rating.schemes.figures import Groups
from rating.schemes.leaderboard import ALWAYS, Leaderboard
from rating.schemes.seat_groups import SeatGroups, is_alone
from rating.stats.estimates import Estimate, bounded_mean, mean_estimate
from rating.stats.results import finished
from rating.store.records import Outcome
from rating.viewer.report.tables import Sheet

EVERYBODY = "(all policies)"


class PlaceTable(NamedTuple):
    """Results by place.

    Attributes:
        kind: kind of place, plural.
        shown: results as a table.
        drawn: results as a figure.
    """

    kind: str
    shown: Sheet
    drawn: Groups


def place_tables(
    board: Leaderboard, outcomes: Sequence[Outcome], places: Callable[[Sequence[Outcome]], list[SeatGroups]]
) -> list[PlaceTable]:
    """Returns results by place, for each way to group seats with two or more places.

    Args:
        board: the leaderboard.
        outcomes: outcomes of its environment; matches with withheld policies are excluded.
        places: returns the ways to group the seats of matches, e.g. ``Scheme.seat_groups``.
    """
    played = [match for match in finished(caveats.shown_matches(board, outcomes)) if len(match.seats) > 1]
    if not played:
        return []
    tables = (_table(board, filter(one.counts, played), one) for one in places(played))
    return [table for table in tables if table is not None]


@dataclass
class _Cases:
    values: list[float] = field(default_factory=list)
    deals: list[int] = field(default_factory=list)

    def estimate(self, *, is_share: bool) -> Estimate | None:
        return (bounded_mean if is_share else mean_estimate)(self.values, self.deals)


def _table(board: Leaderboard, played: Iterable[Outcome], places: SeatGroups) -> PlaceTable | None:
    """Makes the table of a measure by place: all policies in the first row, then each policy.

    Matches of a policy with itself count in the first row only, except in self-play.
    """
    cases: dict[tuple[str | None, str], _Cases] = {}  # None: all policies, because a policy can be named like that row
    found = dict.fromkeys(places.names)
    for outcome in played:
        counts = places.alone or not is_alone(outcome)
        for index, seat in enumerate(outcome.seats):
            where = places.group(outcome, index)
            if where is None:
                continue
            found[where] = None
            value = places.measure.value(outcome, index)
            for name in (None, seat.policy) if counts else (None,):
                own = cases.setdefault((name, where), _Cases())
                own.values.append(value)
                own.deals.append(outcome.seed)
    is_share, columns, rows = places.measure.is_share, list(found), []
    for name in (None, *(row.policy for row in board.rows)):
        values = [
            cases[name, where].estimate(is_share=is_share) if (name, where) in cases else None for where in columns
        ]
        if any(value is not None for value in values):
            rows.append((EVERYBODY if name is None else name, values))
    if len(columns) < 2 or not rows:
        return None
    write, unit = (formatting.percent, ", %") if is_share else (formatting.estimate, "")
    shown = Sheet(
        f"{places.kind.capitalize()}: {board.environment}",
        ["policy", *(f"{where}{unit} (n)" for where in columns)],
        [[name, *map(write, values)] for name, values in rows],
        [*places.notes, "with 95 % intervals by deal and (number of seats and matches)"],
        [ALWAYS] * (1 + len(columns)),
    )
    label = f"{places.measure.label} by {places.kind.removesuffix('s')} with its 95 % interval"
    return PlaceTable(places.kind, shown, Groups(columns, rows, label))
