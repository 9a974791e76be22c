"""Results by seat, role and drawn side, with intervals: the advantage of a place."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rating.judgements.from_records import declared_verdicts
from rating.records.outcome import Outcome
from rating.report.tables import Sheet
from rating.schemes import cells, reservations
from rating.schemes.cooperation import CooperativeLeaderboard
from rating.schemes.field import FieldLeaderboard
from rating.schemes.figures import Groups
from rating.schemes.leaderboard import ALWAYS, Leaderboard
from rating.schemes.mean_reward import RewardLeaderboard
from rating.schemes.roles import RoleLeaderboard
from rating.schemes.self_play import SelfPlayLeaderboard
from rating.statistics.bounded import bounded_mean
from rating.statistics.estimates import Estimate, mean_estimate
from rating.statistics.results import finished

EVERYBODY = "(all policies)"

Value = Callable[[Outcome, int], float]
"""Returns the result of the seat with an index in a match."""

Place = Callable[[Outcome, int], str | None]
"""Returns the place of that seat; ``None`` if it does not count."""


class PlaceTable(NamedTuple):
    """Results by place.

    Attributes:
        what: kind of place, plural.
        shown: results as a table.
        drawn: results as a figure.
    """

    what: str
    shown: Sheet
    drawn: Groups


class _Measure(NamedTuple):
    """A measure that is averaged by place.

    Attributes:
        label: name of the measure.
        value: returns the value of a seat.
        is_share: whether values are in [0, 1] and shown in per cent.
    """

    label: str
    value: Value
    is_share: bool


def beaten(outcome: Outcome, index: int) -> float:
    """Returns the share of other seats with a lower reward, counting ties as half."""
    own = outcome.seats[index].reward
    others = [seat.reward for place, seat in enumerate(outcome.seats) if place != index]
    return sum(0.5 + 0.5 * ((own > other) - (own < other)) for other in others) / len(others)


_SCORE = _Measure("score (a tie as half)", beaten, is_share=True)
_WINS = _Measure("share of wins", lambda outcome, index: float(outcome.seats[index].reward > 0), is_share=True)
_POINTS = _Measure("mean score", lambda outcome, index: outcome.seats[index].reward, is_share=False)
_REWARD = _Measure("mean reward", lambda outcome, index: outcome.seats[index].reward, is_share=False)


def place_tables(board: Leaderboard, outcomes: Sequence[Outcome]) -> list[PlaceTable]:
    """Returns results by seat and, if available, by role or side.

    Args:
        board: leaderboard of any scheme.
        outcomes: outcomes of its environment; matches with withheld policies are excluded.
    """
    withheld = {row.policy for row in board.rows if row.withheld}
    played = [
        match
        for match in finished(reservations.counted(outcomes, board.scheduled))
        if len(match.seats) > 1 and not any(seat.policy in withheld for seat in match.seats)
    ]
    if not played:
        return []
    tables = [_by_seat(board, played)]
    if isinstance(board, RoleLeaderboard):
        tables.append(_by_role(board, played))
    else:
        tables.append(_by_side(board, played))
    return [table for table in tables if table is not None]


def _by_seat(board: Leaderboard, played: Sequence[Outcome]) -> PlaceTable | None:
    measure, note = _SCORE, "score: share of the others at the table who got less, a tie as half"
    place: Place = _seat
    match board:
        case CooperativeLeaderboard():
            played = [outcome for outcome in played if not _is_alone(outcome)]
            measure, note = _REWARD, "mean reward of the matches with others, by the seat that the policy had in them"
        case FieldLeaderboard():
            measure, place = _WINS, _under_test(board.opponent)
            note = f"share of matches won by seat; the other seats are those of {board.opponent}, whose own tests are not counted"
        case RoleLeaderboard() if board.casting.hidden is None:
            return None  # seats are roles here
        case RoleLeaderboard():
            measure, note = (
                _WINS,
                "share of matches won by seat, in whatever role; those of the fixed opponent are among them",
            )
        case RewardLeaderboard() if len(played[0].seats) > 2:
            measure, note = _REWARD, "mean reward by seat"
        case SelfPlayLeaderboard() if all(_is_common(outcome) for outcome in played):
            return None
    if not played:
        return None
    return _table(board, f"Seats: {board.environment}", "seats", played, place, measure, [note])


def _by_role(board: RoleLeaderboard, played: Sequence[Outcome]) -> PlaceTable | None:
    casts = {outcome.number: board.casting.cast(outcome) for outcome in played}
    measure = _WINS if board.results == "wins" else _POINTS

    def role(outcome: Outcome, index: int) -> str | None:
        cast = casts[outcome.number]
        return cast[index] if cast else None

    notes = [f"{measure.label} by role, whoever had the other seats"]
    if board.casting.opponent:
        notes.append(
            f"the leaderboard counts only matches in which {board.casting.opponent} has all seats of the other roles"
        )
    return _table(board, f"Roles: {board.environment}", "roles", played, role, measure, notes, board.roles)


def _by_side(board: Leaderboard, played: Sequence[Outcome]) -> PlaceTable | None:
    verdicts = declared_verdicts(board.environment)
    if verdicts is None or not verdicts.side:
        return None
    names = verdicts.labels

    def side(outcome: Outcome, index: int) -> str | None:
        number = outcome.seats[index].statistics.get(verdicts.side, -1.0)
        return names.get(number)

    if not any(side(outcome, index) for outcome in played for index in range(len(outcome.seats))):
        return None
    notes = ["score by the side that judges saw a player on, which is drawn for every match; a tie as half"]
    return _table(board, f"Sides: {board.environment}", "sides", played, side, _SCORE, notes)


@dataclass
class _Cases:
    values: list[float] = field(default_factory=list)
    deals: list[int] = field(default_factory=list)

    def estimate(self, *, is_share: bool) -> Estimate | None:
        return (bounded_mean if is_share else mean_estimate)(self.values, self.deals)


def _table(
    board: Leaderboard,
    title: str,
    what: str,
    played: Iterable[Outcome],
    place: Place,
    measure: _Measure,
    notes: Sequence[str],
    places: Sequence[str] = (),
) -> PlaceTable | None:
    """Makes the table of a measure by place: all policies in the first row, then each policy.

    Matches of a policy with itself count in the first row only, except in self-play.
    """
    cases: dict[tuple[str | None, str], _Cases] = {}  # None: all policies, because a policy can be named like that row
    found = dict.fromkeys(places)
    only_alone = isinstance(board, SelfPlayLeaderboard)
    for outcome in played:
        counts = only_alone or not _is_alone(outcome)
        for index, seat in enumerate(outcome.seats):
            where = place(outcome, index)
            if where is None:
                continue
            found[where] = None
            value = measure.value(outcome, index)
            for name in (None, seat.policy) if counts else (None,):
                own = cases.setdefault((name, where), _Cases())
                own.values.append(value)
                own.deals.append(outcome.seed)
    columns = list(found)
    rows = []
    for name in (None, *(row.policy for row in board.rows)):
        values = [
            cases[name, where].estimate(is_share=measure.is_share) if (name, where) in cases else None
            for where in columns
        ]
        if any(value is not None for value in values):
            rows.append((EVERYBODY if name is None else name, values))
    if len(columns) < 2 or not rows:
        return None
    write = cells.percent if measure.is_share else cells.estimate
    unit = ", %" if measure.is_share else ""
    shown = Sheet(
        title,
        ["policy", *(f"{where}{unit} (n)" for where in columns)],
        [[name, *map(write, values)] for name, values in rows],
        [*notes, "with 95 % intervals by deal and (number of seats and matches)"],
        [ALWAYS] * (1 + len(columns)),
    )
    label = f"{measure.label} by {what.removesuffix('s')} with its 95 % interval"
    return PlaceTable(what, shown, Groups(columns, rows, label))


def _seat(outcome: Outcome, index: int) -> str:
    return outcome.seats[index].agent or f"seat {index + 1}"


def _under_test(opponent: str) -> Place:
    def place(outcome: Outcome, index: int) -> str | None:
        return None if outcome.seats[index].policy == opponent else _seat(outcome, index)

    return place


def _is_alone(outcome: Outcome) -> bool:
    """Returns whether one policy has all seats."""
    return len({seat.policy for seat in outcome.seats}) == 1


def _is_common(outcome: Outcome) -> bool:
    """Returns whether all seats received the same reward, as with a common reward."""
    return len({seat.reward for seat in outcome.seats}) == 1
