"""Leaderboards: what the outcomes of one environment say about its policies, as typed rows.

This module holds what every way of comparing has in common: the policy, its mean reward, its matches and what they took. What
is particular stands in the module of the scheme.

A leaderboard is a function of the outcomes alone, whatever order they are in. Void matches change nothing but their own count.
What cannot be computed is ``None``, never a number made up for it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from llmarena_envs.core.declaration import role_of
from rating.records.outcome import BUG, FINISHED, UNDECIDED, VOID, Outcome, SeatOutcome
from rating.schemes import cells
from rating.schemes.figures import Figure
from rating.statistics.estimates import Estimate, mean_estimate
from rating.statistics.paired_means import DealResult, established
from rating.statistics.results import rated_seats, seats_of, staff_seats
from rating.statistics.simultaneous import Pair

ALWAYS = 100
"""Importance of a column that is left out last."""


class LeaderboardColumn(NamedTuple):
    """One column of a table.

    Attributes:
        title: its heading.
        cell: writes the cell of a row.
        importance: where there is no room, columns of less importance are left out first.
        wide: whether it is shown only where there is room for everything: in the report and with ``--wide``.
    """

    title: str
    cell: Callable[[Any], str]
    importance: int = ALWAYS
    wide: bool = False


class Ranks(NamedTuple):
    """The best and the worst rank that the data leave to a policy, from 1."""

    best: int
    worst: int


@dataclass(frozen=True)
class Effort:
    """What the finished matches of a policy took; failures by name of their kind.

    Attributes:
        matches: finished matches.
        turns: turns it took.
        forfeits: matches it forfeited, by failure.
        failures: replies that were no legal move, by failure.
        reasks: times it was asked again.
        fallbacks: turns that were played for it.
        prompt_tokens: tokens it read.
        completion_tokens: tokens it wrote.
        unknown_usage: replies of which nobody knows how many tokens they took; they add nothing to the sums.
        void_matches: matches that do not count because a provider failed.
        bug_matches: matches that do not count because the environment failed.
        undecided_matches: matches that do not count because they had no result, as when every judge abstained.
    """

    matches: int
    turns: int
    forfeits: dict[str, int]
    failures: dict[str, int]
    reasks: int
    fallbacks: int
    prompt_tokens: int
    completion_tokens: int
    unknown_usage: int
    void_matches: int
    bug_matches: int
    undecided_matches: int


@dataclass(frozen=True)
class StaffRow:
    """A policy that served: what it took, in the role of e.g. a judge. It is not rated by the matches it served in.

    Attributes:
        role: in which it served.
        policy: its name.
        effort: what its matches took.
        absent: why it was not asked any more, or an empty string.
    """

    role: str
    policy: str
    effort: Effort
    absent: str = ""


@dataclass(frozen=True, kw_only=True)
class LeaderboardRow:
    """What every row has.

    Attributes:
        policy: its name.
        reward: mean reward by match, clustered by seed.
        effort: what its matches took.
        fallback_share: share of its turns that the fallback played, 0 to 1 (``rating.schemes.reservations``).
        withheld: whether that share is so large that its results are not shown.
        absent: why it was not asked any more, or an empty string.
        rank: ranks that the data leave open; ``None`` if it has no rank.
    """

    policy: str
    reward: Estimate | None
    effort: Effort
    fallback_share: float = 0.0
    withheld: bool = False
    absent: str = ""
    rank: Ranks | None = None

    @property
    def quoted(self) -> Estimate | None:
        """The mean or rate by which policies are ranked, unless they are ranked by a rating."""
        return self.reward

    @property
    def metric(self) -> float | None:
        """The value by which policies are compared over environments."""
        return self.quoted and self.quoted.value


@dataclass(frozen=True, kw_only=True)
class Leaderboard:
    """What every leaderboard has.

    Attributes:
        environment: module name.
        scheme: name of the way of comparing.
        rows: best first, equals by name; those that are withheld last.
        matches: finished matches.
        void_matches: matches left out because a provider failed.
        bug_matches: matches left out because the environment failed.
        undecided_matches: matches left out because they had no result, as when every judge abstained.
        stop_reason: why no more matches were played; empty if they go on.
        stopped_after: number of matches whose outcomes the stop rule had when it fired; ``None`` if it has not.
        stopped_with: the values of the stop rule beside those it asks for, when it fired; empty if it has not.
        reached: its present values, including in-flight matches; empty without such a rule.
        paused: why the first matches give no information; empty unless play paused for that.
        references: values to compare with, by what they are.
        staff: policies that served, by role and name.
        max_fallbacks: share of turns played for a policy above which its row is withheld.
        scheduled: number of matches after which the schedule ended; ``None`` while it goes on.
        left_over: matches with a higher number, which count for nothing here.
        unbalanced: policies that void matches keep from sitting on every seat equally often.
        established: pairs (better, worse) that are established, all pairs together.
    """

    environment: str
    scheme: str
    rows: Sequence[LeaderboardRow]
    matches: int
    void_matches: int
    bug_matches: int
    undecided_matches: int
    stop_reason: str
    stopped_after: int | None = None
    stopped_with: str = ""
    reached: str = ""
    paused: str = ""
    references: dict[str, float] = field(default_factory=dict)
    staff: Sequence[StaffRow] = ()
    max_fallbacks: float = 1.0
    scheduled: int | None = None
    left_over: int = 0
    unbalanced: tuple[str, ...] = ()
    established: tuple[Pair, ...] = ()

    def columns(self) -> list[LeaderboardColumn]:
        """Returns the columns that are particular to the way of comparing."""
        return [REWARD]

    def notes(self) -> list[str]:
        """Returns the lines below the table that are particular to the way of comparing."""
        return []

    def ranked_by(self) -> str:
        """Names the value by which policies are ranked."""
        return "mean reward"

    def rank_note(self) -> str:
        """Says what the ranks are."""
        return f"rank: by {self.ranked_by()}; differences paired on common deals, with 95 % confidence for all pairs together"

    def ranks(self, names: Collection[str]) -> dict[str, Ranks]:
        """Returns the ranks that the data leave open among some of the policies."""
        return ranks_of(names, self.established)

    def wide_notes(self) -> list[str]:
        """Returns those about columns that are shown only where there is room for everything."""
        return []

    def figures(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns what the report shows besides the table; ``outcomes`` are those of the leaderboard."""
        return []


RANKS_OF_RATINGS = "rank: the ranks that the results leave open, with 95 % confidence for all pairs together"
"""Note of leaderboards whose ranks are those of ``bradley_terry.standings``."""

REWARD = LeaderboardColumn("reward (n)", lambda row: cells.estimate(row.reward), 3)


def headline(board: Leaderboard) -> dict[str, float | None]:
    """Returns the metric by which policies are compared over environments, by policy; ``None`` where it is withheld."""
    return {row.policy: None if row.withheld else row.metric for row in board.rows}


def common_fields(
    outcomes: Sequence[Outcome], scheme: str, stop_reason: str, references: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Returns the fields that every leaderboard has, but the rows.

    Raises:
        ValueError: if the outcomes are not those of one environment.
    """
    environments = sorted({outcome.environment for outcome in outcomes})
    if len(environments) != 1:
        raise ValueError(f"expected the outcomes of one environment, got {', '.join(environments) or 'none'}")
    status = Counter(outcome.status for outcome in outcomes)
    return {
        "environment": environments[0],
        "scheme": scheme,
        "matches": status[FINISHED],
        "void_matches": status[VOID],
        "bug_matches": status[BUG],
        "undecided_matches": status[UNDECIDED],
        "stop_reason": stop_reason,
        "references": dict(references or {}),
        "staff": _staff_rows(outcomes),
    }


def by_policy(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """Returns the outcomes of the matches in which each policy was rated, by its name."""
    table: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        for policy in {seat.policy for seat in rated_seats(outcome)}:
            table.setdefault(policy, []).append(outcome)
    return dict(sorted(table.items()))


def row_fields(matches: Sequence[Outcome], policy: str) -> dict[str, Any]:
    """Returns the fields that every row has.

    Args:
        matches: those in which the policy was rated.
        policy: its name.
    """
    played = list(seats_of(matches, policy))
    effort = _effort(matches, [seat for _, own in played for seat in own])
    return {"policy": policy, "reward": _mean_reward(played), "effort": effort}


def mean_reward(matches: Iterable[Outcome], policy: str) -> Estimate | None:
    """Returns the mean reward by match; a match in which the policy has several seats counts once, with their mean."""
    return _mean_reward(list(seats_of(matches, policy)))


def _mean_reward(played: Sequence[tuple[Outcome, Sequence[SeatOutcome]]]) -> Estimate | None:
    rewards = [sum(seat.reward for seat in own) / len(own) for _, own in played]
    return mean_estimate(rewards, [outcome.seed for outcome, _ in played])


AnyRow = TypeVar("AnyRow", bound=LeaderboardRow)


def ranked(rows: Iterable[AnyRow], value: Callable[[AnyRow], float | None]) -> tuple[AnyRow, ...]:
    """Sorts by a value, best first and missing last, then by name; differences below rounding are none."""

    def key(row: AnyRow) -> tuple[bool, float, str]:
        known = value(row)
        return known is None, -round(known or 0.0, 6), row.policy

    return tuple(sorted(rows, key=key))


def ranked_by_means(rows: Iterable[AnyRow], cases: Iterable[DealResult]) -> dict[str, Any]:
    """Returns the fields of a leaderboard of means: its rows, best first, and the pairs that are established.

    Args:
        rows: without ranks.
        cases: from which the means were made.
    """
    pairs = established(cases)
    return {"rows": with_ranks(ranked(rows, lambda row: row.metric), pairs), "established": pairs}


def with_ranks(rows: Iterable[AnyRow], pairs: Collection[Pair]) -> tuple[AnyRow, ...]:
    """Returns rows with the ranks that these pairs leave open; those without a value have none."""
    rows = tuple(rows)
    found = ranks_of([row.policy for row in rows if row.metric is not None], pairs)
    return tuple(replace(row, rank=found.get(row.policy)) for row in rows)


def ranks_of(names: Collection[str], pairs: Collection[Pair]) -> dict[str, Ranks]:
    """Returns the ranks that the pairs leave open among these policies, by name."""
    among = [pair for pair in pairs if pair.better in names and pair.worse in names]
    above, below = Counter(pair.worse for pair in among), Counter(pair.better for pair in among)
    return {name: Ranks(1 + above[name], len(names) - below[name]) for name in names}


def _staff_rows(outcomes: Iterable[Outcome]) -> tuple[StaffRow, ...]:
    served: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        for pair in {(role_of(seat.agent), seat.policy) for seat in staff_seats(outcome)}:
            served.setdefault(pair, []).append(outcome)
    return tuple(
        StaffRow(role, policy, _effort(matches, _staff_seats_of(matches, role, policy)))
        for (role, policy), matches in sorted(served.items())
    )


def _staff_seats_of(matches: Iterable[Outcome], role: str, policy: str) -> list[SeatOutcome]:
    return [
        seat
        for outcome in matches
        if outcome.status == FINISHED
        for seat in staff_seats(outcome)
        if (role_of(seat.agent), seat.policy) == (role, policy)
    ]


def _effort(matches: Iterable[Outcome], seats: Sequence[SeatOutcome]) -> Effort:
    """Adds up what the seats of a policy took in the finished ones of its matches."""
    status = Counter(outcome.status for outcome in matches)
    failures: Counter[str] = Counter()
    for seat in seats:
        if seat.failures:  # most replies are legal moves
            failures.update(seat.failures)
    return Effort(
        matches=status[FINISHED],
        turns=sum(seat.turns for seat in seats),
        forfeits=dict(sorted(Counter(seat.forfeit for seat in seats if seat.forfeit).items())),
        failures=dict(sorted(failures.items())),
        reasks=sum(seat.reasks for seat in seats),
        fallbacks=sum(seat.fallbacks for seat in seats),
        prompt_tokens=sum(seat.prompt_tokens for seat in seats),
        completion_tokens=sum(seat.completion_tokens for seat in seats),
        unknown_usage=sum(seat.unknown_usage for seat in seats),
        void_matches=status[VOID],
        bug_matches=status[BUG],
        undecided_matches=status[UNDECIDED],
    )
