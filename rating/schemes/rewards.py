"""Mean rewards: games whose payoff is the metric, against others or in self-play.

Source: LLMArena (arXiv 2402.16499) for bid.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rating.schedules.batches import Contest
from rating.schedules.round_robin import everywhere, self_play
from rating.schemes import formatting, seat_groups
from rating.schemes.base import Repeating
from rating.schemes.caveats import missing_intervals
from rating.schemes.duels import ratings_of
from rating.schemes.figures import Figure, estimate_figure, pair_figure, running_means
from rating.schemes.leaderboard import (
    RATING,
    REWARD,
    Leaderboard,
    LeaderboardColumn,
    LeaderboardRow,
    by_policy,
    common_fields,
    means_of,
    metric_of,
    ranked_by_means,
    row_fields,
    with_ranks,
)
from rating.schemes.seat_groups import SEATS, SeatGroups, is_common
from rating.schemes.setting import ADAPTIVE
from rating.schemes.stopping import CountRule, SettlingRule
from rating.stats.bradley_terry import Comparisons, compare, standings
from rating.stats.results import WinDrawLoss, finished, pair_results, rewards
from rating.stats.simultaneous import DealResult, reward_cases
from rating.store.records import Match, Outcome

CO_PLAYERS = (
    "the tables were chosen by results, so each policy had co-players of its own: compare ratings; no difference of means is"
    " established"
)


class MeanReward(Repeating):
    """Every policy plays every seat on the same deals, for a fixed number of matches or until the means are precise enough."""

    name = "mean_reward"
    can_adapt = True
    rivals = True

    def check(self) -> None:
        """Checks that there is no fixed opponent."""
        self.expect_no("opponent", self.setting.pool.opponent, "since policies are compared by playing each other here")

    def batches(self, contest: Contest) -> Iterator[list[Match]]:
        """Returns every policy on every seat."""
        return everywhere(contest)

    def has_choice(self, contest: Contest) -> bool:
        """Returns whether tables can be chosen: only with three or more seats; two-seat games compare means on common deals."""
        return contest.seats > 2 and super().has_choice(contest)

    def cycle(self, contest: Contest) -> tuple[int, int]:
        """Returns the matches of a policy in a cycle: both seats against every other policy, or every seat of a full table."""
        policies, seats = len(contest.policies), contest.seats
        each = 2 * (policies - 1) if seats == 2 else seats if policies == seats else 1
        return each, each

    def rule(self, contest: Contest) -> CountRule | SettlingRule:
        """Returns the number of matches of each policy, or the settling rule if the run sets a half-width."""
        return self.mean_rule(lambda outcome: outcome.seats)

    def cases(self, outcomes: Sequence[Outcome]) -> list[DealResult]:
        """Returns the statistic, or the rewards without one."""
        return reward_cases(outcomes, self.setting.value)

    def board(self, outcomes: Sequence[Outcome], stop_reason: str = "") -> Leaderboard:
        """Makes the leaderboard.

        Its rows have the value ``value``, the mean of the statistic if one is requested. Ratings are of tables of three or more.
        """
        statistic, pairs = self.setting.value, _tables_of_many(outcomes)
        fitted = standings(pairs) if pairs.policies else None
        ratings, cases = ratings_of(fitted), self.cases(outcomes)
        means = means_of(cases) if statistic else {}
        rows = []
        for policy, matches in by_policy(outcomes).items():
            common, value = row_fields(matches, policy), means.get((policy, ""))
            rows.append(
                LeaderboardRow(
                    **common,
                    metric=metric_of(value or common["reward"]),
                    rating=ratings.get(policy),
                    values={"value": value} if statistic else {},
                )
            )
        board = Leaderboard(
            **common_fields(outcomes, self.name, stop_reason),
            **ranked_by_means(rows, cases),
            ranked_by=f"mean {statistic or 'reward'}",
            columns=(*statistic_columns(statistic), REWARD, *([RATING._replace(importance=5)] if ratings else [])),
            notes=(_RATING_NOTE,) if ratings else (),
            caveats=(
                *(fitted.notes if fitted else ()),
                *missing_intervals(one for row in rows for one in (row.values.get("value"), row.reward)),
            ),
        )
        if self.setting.schedule == ADAPTIVE and self.has_choice(self._contest):
            board = replace(
                board, rows=with_ranks(board.rows, ()), established=(), caveats=(CO_PLAYERS, *board.caveats)
            )
        return board

    def seat_groups(self, played: Sequence[Outcome]) -> list[SeatGroups]:
        """Returns the seats: the mean reward at tables of three or more, else the score."""
        if len(played[0].seats) == 2:
            return super().seat_groups(played)
        seats = SEATS._replace(measure=seat_groups.REWARD, notes=("mean reward by seat",))
        return [seats, *super().seat_groups(played)[1:]]

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the means with their intervals and running means, and the results of every pair."""
        label = board.ranked_by
        rows = ((row.policy, row.values.get("value") or row.reward) for row in board.rows)
        return [
            *estimate_figure(rows, f"{label} with its 95 % interval"),
            *running_means(rewards(outcomes, self.setting.value), label),
            *pair_figure([row.policy for row in board.rows], compare(outcomes)),
        ]

    def comparisons(self, outcomes: Sequence[Outcome]) -> Comparisons:
        """Returns the results of all pairs at tables of three or more."""
        return _tables_of_many(outcomes)


_RATING_NOTE = (
    "rating: Bradley-Terry in Elo, mean 1000, of all pairs at a table by their rewards, equal ones half a win each; its 95 %"
    " interval is clustered by deal"
)


def statistic_columns(statistic: str) -> list[LeaderboardColumn]:
    """Returns the column of the value ``value``, the mean of a statistic; an empty list without one."""
    column = LeaderboardColumn(f"{statistic} (n)", lambda row: formatting.estimate(row.values["value"]))
    return [column] if statistic else []


def _tables_of_many(outcomes: Iterable[Outcome]) -> Comparisons:
    """Returns the results of all pairs at tables of three or more, without a seat advantage."""
    return replace(compare(outcome for outcome in finished(outcomes) if len(outcome.seats) > 2), seated=False)


class SelfPlay(Repeating):
    """Every policy on all rated seats, a fixed number of matches."""

    name = "self_play"

    def least_policies(self, seats: int) -> int:
        """Returns 1."""
        return 1

    def batches(self, contest: Contest) -> Iterator[list[Match]]:
        """Returns every policy in self-play."""
        return self_play(contest)

    def board(self, outcomes: Sequence[Outcome], stop_reason: str = "") -> Leaderboard:
        """Makes the leaderboard.

        Its rows have the value ``first``: wins, ties and losses of the first of two seats, including forfeits; ``None`` with
        another number of seats.
        """
        rows = []
        for policy, matches in by_policy(outcomes).items():
            common = row_fields(matches, policy)
            values = {"first": _first_seat(matches)}
            rows.append(LeaderboardRow(**common, metric=metric_of(common["reward"]), values=values))
        return Leaderboard(
            **common_fields(outcomes, self.name, stop_reason),
            **ranked_by_means(rows, reward_cases(outcomes)),
            ranked_by="mean reward",
            columns=(LeaderboardColumn("first W/D/L", lambda row: formatting.tally(row.values["first"]), 7), REWARD),
            caveats=missing_intervals(row.reward for row in rows),
        )

    def seat_groups(self, played: Sequence[Outcome]) -> list[SeatGroups]:
        """Returns the seats, unless all seats of a match have a common reward."""
        seats, *others = super().seat_groups(played)
        own = [] if all(map(is_common, played)) else [seats]
        return [groups._replace(alone=True) for groups in (*own, *others)]

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the mean rewards with their intervals, and their running means."""
        means = estimate_figure(((row.policy, row.reward) for row in board.rows), "mean reward with its 95 % interval")
        return [*means, *running_means(rewards(outcomes), "mean reward")]


def _first_seat(matches: Sequence[Outcome]) -> WinDrawLoss | None:
    if any(sum(seat.rated for seat in outcome.seats) != 2 for outcome in matches):
        return None
    tally = WinDrawLoss()
    for duel in pair_results(matches, with_itself=True):
        tally = tally.add(duel.score)
    return tally
