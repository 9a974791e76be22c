"""Self-play: every policy on all seats, on the same deals, not compared with other policies.

Sources: LLMArena (arXiv 2402.16499, Table 2, Figures 3 and 5), with self-play in board games, auctions and Hanabi.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

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
    metric_of,
    ranked_by_means,
    row_fields,
)
from rating.schemes.missing import missing_intervals
from rating.schemes.places import Places, is_common
from rating.schemes.repeating import Repeating
from rating.schemes.stopping import CountRule
from rating.stats.results import WinDrawLoss, duels, rewards
from rating.stats.simultaneous import reward_cases
from rating.store.match import Match
from rating.store.outcome import Outcome


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

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> Leaderboard:
        """Makes the leaderboard."""
        return self_play_leaderboard(outcomes, stop_reason=stop_reason, references=self.setting.references)

    def places(self, played: Sequence[Outcome]) -> list[Places]:
        """Returns the seats, unless all seats of a match have a common reward."""
        seats, *others = super().places(played)
        own = [] if all(map(is_common, played)) else [seats._replace(alone=True)]
        return [*own, *(place._replace(alone=True) for place in others)]

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the mean rewards with their intervals, and their running means."""
        return self_play_figures(board, outcomes)


def self_play_leaderboard(
    outcomes: Iterable[Outcome], *, stop_reason: str = "", references: Mapping[str, float] | None = None
) -> Leaderboard:
    """Makes the leaderboard of policies in self-play.

    Its rows have the value ``first``: wins, ties and losses of the first of two seats, including forfeits; ``None`` with another
    number of seats.

    Args:
        outcomes: all outcomes of the environment, including void ones, in any order; at least one.
        stop_reason: why play stopped.
        references: reference values by label.

    Raises:
        ValueError: if there are no outcomes.
    """
    outcomes = list(outcomes)
    rows = []
    for policy, matches in by_policy(outcomes).items():
        common = row_fields(matches, policy)
        values = {"first": _first_seat(matches)}
        rows.append(LeaderboardRow(**common, metric=metric_of(common["reward"]), values=values))
    return Leaderboard(
        **common_fields(outcomes, SelfPlay.name, stop_reason, references),
        **ranked_by_means(rows, reward_cases(outcomes)),
        ranked_by="mean reward",
        columns=(LeaderboardColumn("first W/D/L", lambda row: cells.tally(row.values["first"]), 7), REWARD),
        caveats=missing_intervals(row.reward for row in rows),
    )


def self_play_figures(board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
    """Returns the mean rewards with their intervals, and their running means."""
    means = estimate_figure(((row.policy, row.reward) for row in board.rows), "mean reward with its 95 % interval")
    return [*means, *running_means(rewards(outcomes), "mean reward")]


def _first_seat(matches: Sequence[Outcome]) -> WinDrawLoss | None:
    if any(sum(seat.rated for seat in outcome.seats) != 2 for outcome in matches):
        return None
    tally = WinDrawLoss()
    for duel in duels(matches, with_itself=True):
        tally = tally.add(duel.score)
    return tally
