"""The leaderboard of one environment: a row for each policy, columns and caveats; the same type for every scheme and import.

A leaderboard depends only on the outcomes, in any order. Void matches affect only their own count. A value that cannot be
computed is ``None``.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from llmarena_envs.core.declaration import role_of
from rating.schemes import formatting
from rating.stats.estimates import Estimate, Rating, mean_estimate
from rating.stats.results import WinDrawLoss, rated_seats, seats_of, staff_seats
from rating.stats.simultaneous import DealResult, Pair, established
from rating.store.records import BUG, FINISHED, UNDECIDED, VOID, Outcome, SeatOutcome

ALWAYS = 100
"""Importance of a column that is dropped last."""


class LeaderboardColumn(NamedTuple):
    """One column of a table.

    Attributes:
        title: heading.
        cell: formats the cell of a row.
        importance: columns of less importance are dropped first if space is short.
        wide: whether the column is shown only in the report and with ``--wide``.
    """

    title: str
    cell: Callable[["LeaderboardRow"], str]
    importance: int = ALWAYS
    wide: bool = False


class Ranks(NamedTuple):
    """The best and the worst rank compatible with the data, from 1."""

    best: int
    worst: int


@dataclass(frozen=True)
class Effort:
    """Turns, tokens and failures of a policy in its finished matches.

    Attributes:
        matches: finished matches.
        turns: turns taken.
        forfeits: forfeited matches, by kind of failure.
        failures: replies without a legal move, by kind of failure.
        reasks: repeated requests after an invalid reply.
        fallbacks: turns played by the fallback.
        prompt_tokens: prompt tokens.
        completion_tokens: completion tokens.
        unknown_usage: replies with unknown token usage, not included in the token sums.
        void_matches: matches void because a provider failed.
        bug_matches: matches excluded because the environment failed.
        undecided_matches: matches excluded because they have no result, e.g. since every judge abstained.
    """

    matches: int
    turns: int = 0
    forfeits: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, int] = field(default_factory=dict)
    reasks: int = 0
    fallbacks: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unknown_usage: int = 0
    void_matches: int = 0
    bug_matches: int = 0
    undecided_matches: int = 0


@dataclass(frozen=True)
class StaffRow:
    """A policy in a staff role, e.g. a judge. These matches do not affect its rating.

    Attributes:
        role: staff role.
        policy: name.
        effort: turns, tokens and failures in these matches.
        absent: why the policy was suspended or withdrawn, or an empty string.
    """

    role: str
    policy: str
    effort: Effort
    absent: str = ""


@dataclass(frozen=True, kw_only=True)
class LeaderboardRow:
    """The results of one policy.

    Attributes:
        policy: name.
        metric: the value for comparisons across environments.
        rating: Bradley-Terry rating; ``None`` if the scheme has none, or without a match against another policy.
        score: mean score against its opponents, 0 to 1, a tie counts a half; ``None`` likewise.
        reward: mean reward by match, clustered by seed.
        tally: wins, draws and losses against other policies; ``None`` if matches are not duels.
        values: further results of the scheme by name.
        effort: turns, tokens and failures.
        fallback_share: share of its turns played by the fallback, 0 to 1 (``rating.schemes.caveats``).
        withheld: whether that share is too large to show its results.
        absent: why the policy was suspended or withdrawn, or an empty string.
        rank: ranks compatible with the data; ``None`` if it has no rank.
    """

    policy: str
    metric: float | None
    rating: Rating | None = None
    score: Estimate | None = None
    reward: Estimate | None = None
    tally: WinDrawLoss | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    effort: Effort
    fallback_share: float = 0.0
    withheld: bool = False
    absent: str = ""
    rank: Ranks | None = None


@dataclass(frozen=True, kw_only=True)
class Leaderboard:
    """The leaderboard of one environment.

    Attributes:
        environment: module name.
        scheme: name of the scheme.
        ranked_by: name of the value that ranks the policies.
        is_rated: whether ratings rank the policies, not means.
        rows: best first, ties by name; withheld rows last.
        columns: the scheme's columns, between the policy and the number of matches.
        caveats: doubts about the results, in plain words.
        notes: definitions of the columns.
        wide_notes: definitions of the wide columns.
        facts: further results of the environment by name, e.g. the advantage of the first seat.
        matches: finished matches, or battles of a log.
        void_matches: matches excluded because a provider failed.
        bug_matches: matches excluded because the environment failed.
        undecided_matches: matches excluded because they have no result, e.g. since every judge abstained.
        stop_reason: why play stopped; empty while it continues.
        stopped_after: number of matches whose outcomes the stopping rule had when it fired; ``None`` if it has not.
        stopped_with: values of the stopping rule when it fired, with the required values; empty if it has not.
        reached: its current values, including in-flight matches; empty without a rule.
        paused: why the first matches give no information; empty unless play paused for this reason.
        references: reference values by label.
        staff: staff policies, by role and name.
        max_fallbacks: maximum share of fallback turns; a row above it is withheld.
        scheduled: number of matches after which the schedule ended; ``None`` while it continues.
        left_over: matches with a higher number, which are not counted.
        unbalanced: policies with unequal seat counts because of void matches.
        established: established pairs (better, worse), with 95 % confidence for all pairs together.
    """

    environment: str
    scheme: str
    ranked_by: str
    is_rated: bool = field(default=False, compare=False)
    rows: tuple[LeaderboardRow, ...]
    columns: tuple[LeaderboardColumn, ...] = field(compare=False)
    caveats: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    wide_notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    matches: int
    void_matches: int = 0
    bug_matches: int = 0
    undecided_matches: int = 0
    stop_reason: str = ""
    stopped_after: int | None = None
    stopped_with: str = ""
    reached: str = ""
    paused: str = ""
    references: Mapping[str, float] = field(default_factory=dict)
    staff: tuple[StaffRow, ...] = ()
    max_fallbacks: float = 1.0
    scheduled: int | None = None
    left_over: int = 0
    unbalanced: tuple[str, ...] = ()
    established: tuple[Pair, ...] = ()

    @property
    def rank_note(self) -> str:
        """The definition of the ranks."""
        if self.is_rated:
            return "rank: the ranks that the results leave open, with 95 % confidence for all pairs together"
        return f"rank: by {self.ranked_by}; differences paired on common deals, with 95 % confidence for all pairs together"


RATING = LeaderboardColumn("rating", lambda row: formatting.rating(row.rating))
SCORE = LeaderboardColumn("score, %", lambda row: formatting.score(row.score), 9)
REWARD = LeaderboardColumn("reward (n)", lambda row: formatting.estimate(row.reward), 3)
TALLY = LeaderboardColumn("W/D/L", lambda row: formatting.tally(row.tally), wide=True)


def headline(board: Leaderboard) -> dict[str, float | None]:
    """Returns the metric for comparisons across environments, by policy; ``None`` if it is withheld."""
    return {row.policy: None if row.withheld else row.metric for row in board.rows}


def common_fields(outcomes: Sequence[Outcome], scheme: str, stop_reason: str) -> dict[str, Any]:
    """Returns the fields common to all leaderboards, without the rows.

    Raises:
        ValueError: if the outcomes belong to several environments or to none.
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
        "staff": _staff_rows(outcomes),
    }


def by_policy(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """Returns the outcomes of each policy's rated matches, by its name."""
    table: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        for policy in {seat.policy for seat in rated_seats(outcome)}:
            table.setdefault(policy, []).append(outcome)
    return dict(sorted(table.items()))


def row_fields(matches: Sequence[Outcome], policy: str) -> dict[str, Any]:
    """Returns the fields common to all rows.

    Args:
        matches: rated matches of the policy.
        policy: name.
    """
    played = list(seats_of(matches, policy))
    effort = _effort(matches, [seat for _, own in played for seat in own])
    return {"policy": policy, "reward": _mean_reward(played), "effort": effort}


def metric_of(estimate: Estimate | None) -> float | None:
    """Returns the value of an estimate, if there is one."""
    return None if estimate is None else estimate.value


def mean_reward(matches: Iterable[Outcome], policy: str) -> Estimate | None:
    """Returns the mean reward by match; in a match where the policy has several seats, their mean counts once."""
    return _mean_reward(list(seats_of(matches, policy)))


def _mean_reward(played: Sequence[tuple[Outcome, Sequence[SeatOutcome]]]) -> Estimate | None:
    rewards = [sum(seat.reward for seat in own) / len(own) for _, own in played]
    return mean_estimate(rewards, [outcome.seed for outcome, _ in played])


def _metric(row: LeaderboardRow) -> float | None:
    return row.metric


def means_of(
    cases: Iterable[DealResult], mean: Callable[[Sequence[float], Sequence[int]], Estimate | None] = mean_estimate
) -> dict[tuple[str, str], Estimate | None]:
    """Returns the mean of the values of each policy and part, clustered by deal."""
    grouped: dict[tuple[str, str], tuple[list[float], list[int]]] = {}
    for case in cases:
        values, deals = grouped.setdefault((case.policy, case.part), ([], []))
        values.append(case.value)
        deals.append(case.deal)
    return {key: mean(values, deals) for key, (values, deals) in grouped.items()}


def ranked(
    rows: Iterable[LeaderboardRow], value: Callable[[LeaderboardRow], float | None] = _metric
) -> tuple[LeaderboardRow, ...]:
    """Sorts rows by a value, by default the metric, rounded to 6 decimals, best first and missing last, then by name."""

    def key(row: LeaderboardRow) -> tuple[bool, float, str]:
        known = value(row)
        return known is None, -round(known or 0.0, 6), row.policy

    return tuple(sorted(rows, key=key))


def ranked_by_means(rows: Iterable[LeaderboardRow], cases: Iterable[DealResult]) -> dict[str, Any]:
    """Returns the fields of a leaderboard of means: its rows, best first, and the established pairs.

    Args:
        rows: without ranks.
        cases: the averaged results.
    """
    pairs = established(cases)
    return {"rows": with_ranks(ranked(rows), pairs), "established": pairs}


def with_ranks(rows: Iterable[LeaderboardRow], pairs: Collection[Pair]) -> tuple[LeaderboardRow, ...]:
    """Returns the rows with the ranks compatible with the established pairs; rows without a value have no rank."""
    rows = tuple(rows)
    found = ranks_of([row.policy for row in rows if row.metric is not None], pairs)
    return tuple(replace(row, rank=found.get(row.policy)) for row in rows)


def ranks_of(names: Collection[str], pairs: Collection[Pair]) -> dict[str, Ranks]:
    """Returns the ranks compatible with the established pairs among these policies, by name."""
    among = [pair for pair in pairs if pair.better in names and pair.worse in names]
    above, below = Counter(pair.worse for pair in among), Counter(pair.better for pair in among)
    return {name: Ranks(1 + above[name], len(names) - below[name]) for name in names}


def _staff_rows(outcomes: Iterable[Outcome]) -> tuple[StaffRow, ...]:
    served: dict[tuple[str, str], list[tuple[Outcome, list[SeatOutcome]]]] = {}
    for outcome in outcomes:
        seats: dict[tuple[str, str], list[SeatOutcome]] = {}
        for seat in staff_seats(outcome):
            seats.setdefault((role_of(seat.agent), seat.policy), []).append(seat)
        for pair, own in seats.items():
            served.setdefault(pair, []).append((outcome, own))
    rows = []
    for (role, policy), matches in sorted(served.items()):
        played = [seat for outcome, own in matches if outcome.status == FINISHED for seat in own]
        rows.append(StaffRow(role, policy, _effort((outcome for outcome, _ in matches), played)))
    return tuple(rows)


def _effort(matches: Iterable[Outcome], seats: Sequence[SeatOutcome]) -> Effort:
    """Sums the effort of a policy's seats in its finished matches."""
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
