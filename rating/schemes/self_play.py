"""Self-play: every policy on all seats, on the same deals, not compared with other policies.

Sources: LLMArena (arXiv 2402.16499, Table 2, Figures 3 and 5), with self-play in board games, auctions and Hanabi.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.schedules.self_play import self_play
from rating.schemes import cells
from rating.schemes.course import running_means
from rating.schemes.figures import Figure, estimate_figure
from rating.schemes.leaderboard import (
    REWARD,
    Leaderboard,
    LeaderboardColumn,
    LeaderboardRow,
    by_policy,
    common_fields,
    ranked_by_means,
    row_fields,
)
from rating.schemes.missing import missing_intervals
from rating.schemes.repeating import Repeating
from rating.schemes.stopping import CountRule
from rating.statistics.estimates import WinDrawLoss
from rating.statistics.paired_means import reward_cases
from rating.statistics.results import duels, rewards


@dataclass(frozen=True, kw_only=True)
class SelfPlayRow(LeaderboardRow):
    """A policy in self-play.

    Attributes:
        first: wins, ties and losses of the first of two seats, including forfeits; ``None`` with another number of seats.
    """

    first: WinDrawLoss | None


@dataclass(frozen=True, kw_only=True)
class SelfPlayLeaderboard(Leaderboard):
    """The leaderboard of an environment in self-play."""

    rows: Sequence[SelfPlayRow]

    def columns(self) -> list[LeaderboardColumn]:
        """Returns the results of the first seat and the mean reward of all."""
        return [LeaderboardColumn("first W/D/L", lambda row: cells.tally(row.first) if row.first else "", 7), REWARD]

    def notes(self) -> list[str]:
        """Returns notes on missing intervals."""
        return missing_intervals(row.reward for row in self.rows)

    def figures(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the mean rewards with their intervals, and their running means."""
        means = estimate_figure(((row.policy, row.reward) for row in self.rows), "mean reward with its 95 % interval")
        return [*means, *running_means(rewards(outcomes), "mean reward")]


class SelfPlay(Repeating):
    """Every policy on all rated seats, a fixed number of matches."""

    name = "self_play"

    def least_policies(self, seats: int) -> int:
        """Returns 1."""
        return 1

    def batches(self) -> Iterator[list[Match]]:
        """Returns every policy in self-play."""
        return self_play(self._contest)

    def rule(self) -> CountRule:
        """Returns the number of matches of each policy."""
        return self.count_rule()

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> SelfPlayLeaderboard:
        """Makes the leaderboard."""
        return self_play_leaderboard(outcomes, stop_reason=stop_reason, references=self.setting.references)


def self_play_leaderboard(
    outcomes: Iterable[Outcome], *, stop_reason: str = "", references: Mapping[str, float] | None = None
) -> SelfPlayLeaderboard:
    """Makes the leaderboard of policies in self-play.

    Args:
        outcomes: all outcomes of the environment, including void ones, in any order; at least one.
        stop_reason: why play stopped.
        references: reference values by label.

    Raises:
        ValueError: if there are no outcomes.
    """
    outcomes = list(outcomes)
    rows = [
        SelfPlayRow(**row_fields(matches, policy), first=_first_seat(matches))
        for policy, matches in by_policy(outcomes).items()
    ]
    return SelfPlayLeaderboard(
        **common_fields(outcomes, SelfPlay.name, stop_reason, references),
        **ranked_by_means(rows, reward_cases(outcomes)),
    )


def _first_seat(matches: Sequence[Outcome]) -> WinDrawLoss | None:
    if any(sum(seat.rated for seat in outcome.seats) != 2 for outcome in matches):
        return None
    tally = WinDrawLoss()
    for duel in duels(matches, with_itself=True):
        tally = tally.add(duel.score)
    return tally
