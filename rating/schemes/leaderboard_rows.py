"""Leaderboards as typed rows: what one holds, by kind of environment."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rating.statistics.estimates import Estimate, Tally
from rating.statistics.trueskill_rating import Spread


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
        void_matches: matches that do not count because a provider failed.
        bug_matches: matches that do not count because the environment failed.
    """

    matches: int
    turns: int
    forfeits: dict[str, int]
    failures: dict[str, int]
    reasks: int
    fallbacks: int
    prompt_tokens: int
    completion_tokens: int
    void_matches: int
    bug_matches: int


@dataclass(frozen=True, kw_only=True)
class Row:
    """What every row has: the policy, its mean reward by match (clustered by seed), and its effort."""

    policy: str
    reward: Estimate | None
    effort: Effort


@dataclass(frozen=True, kw_only=True)
class SkillRow(Row):
    """A policy of a two-player environment; the ratings are ``None`` if it has not finished a match with another policy.

    Attributes:
        rating: Bradley-Terry rating, in Elo.
        low: lower end of its 95 % interval.
        high: upper end.
        rating_without_ties: the rating if ties are left out.
        mu: TrueSkill mean, matches applied in match-number order.
        sigma: TrueSkill standard deviation.
        spread: mean and standard deviation of mu over random orders of the matches.
        tally: wins, draws and losses against other policies.
        first: those on the first seat.
        second: those on the second seat.
    """

    rating: float | None
    low: float | None
    high: float | None
    rating_without_ties: float | None
    mu: float | None
    sigma: float | None
    spread: Spread | None
    tally: Tally
    first: Tally
    second: Tally


@dataclass(frozen=True, kw_only=True)
class CooperativeRow(Row):
    """A policy of a co-operative environment.

    Attributes:
        self_play: mean reward of the matches in which it has all seats.
        cross_play: mean reward of those it shares with others.
    """

    self_play: Estimate | None
    cross_play: Estimate | None


@dataclass(frozen=True, kw_only=True)
class RoleRow(Row):
    """A policy of an environment with a role of its own for one seat.

    Attributes:
        win_rate: share of the matches won in that role, with Wilson's interval.
        other_win_rate: share of the matches won in which it had the other role; several seats of one match count once.
    """

    win_rate: Estimate | None
    other_win_rate: Estimate | None


@dataclass(frozen=True, kw_only=True)
class Leaderboard:
    """What every leaderboard has.

    Attributes:
        environment: module name.
        kind: ``duels``, ``mean_reward``, ``cooperation`` or ``roles``.
        rows: best first, equals by name.
        matches: finished matches.
        void_matches: matches left out because a provider failed.
        bug_matches: matches left out because the environment failed.
        stop_reason: why no more matches were played; empty if they go on.
        references: values to compare with, by what they are.
    """

    environment: str
    kind: str
    rows: Sequence[Row]
    matches: int
    void_matches: int
    bug_matches: int
    stop_reason: str
    references: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SkillLeaderboard(Leaderboard):
    """The leaderboard of a two-player environment.

    Attributes:
        connected: whether every policy has beaten or tied every other through a chain of others; if not, the prior
            determines how far groups are apart.
        regularised: whether a prior was used although none was asked for.
        interval: what the intervals are: ``model`` (inverse Hessian) or ``wider`` (the wider one of that and of the robust
            interval clustered by deal).
        clusters: number of deals behind the robust interval; 0 if there is none.
        seat_advantage: of the first seat, in Elo; ``None`` without a match.
        seat_low: lower end of its 95 % interval.
        seat_high: upper end.
        position: matches the first seat won, tied and lost, those of a policy with itself included.
        first_share: share of the first seat in the decided ones.
        permutations: number of random orders behind the spread.
    """

    rows: Sequence[SkillRow]
    connected: bool
    regularised: bool
    interval: str
    clusters: int
    seat_advantage: float | None
    seat_low: float | None
    seat_high: float | None
    position: Tally
    first_share: Estimate | None
    permutations: int


@dataclass(frozen=True, kw_only=True)
class CooperativeLeaderboard(Leaderboard):
    """The leaderboard of a co-operative environment."""

    rows: Sequence[CooperativeRow]


@dataclass(frozen=True, kw_only=True)
class RoleLeaderboard(Leaderboard):
    """The leaderboard of an environment with a role of its own for one seat.

    Attributes:
        unclassified: finished matches of which it is not known who had the role; they count in no rate.
    """

    rows: Sequence[RoleRow]
    unclassified: int


def headline(board: Leaderboard) -> dict[str, float | None]:
    """Returns the metric by which LLMArena compares policies in an environment of this kind, by policy (L-2).

    TrueSkill mu for ``duels``, the value sorted by for the others.
    """
    return {row.policy: metric(row) for row in board.rows}


def metric(row: Row) -> float | None:
    """Returns the value that ``headline`` gives for a row."""
    if isinstance(row, SkillRow):
        return row.mu
    if isinstance(row, CooperativeRow):
        return row.self_play and row.self_play.value
    if isinstance(row, RoleRow):
        return row.win_rate and row.win_rate.value
    return row.reward and row.reward.value
