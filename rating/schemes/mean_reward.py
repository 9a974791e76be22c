"""Mean reward: games whose payoff is the metric, with any number of players.

Source: LLMArena (arXiv 2402.16499) for bid.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.schedules.everywhere import everywhere
from rating.schemes import cells
from rating.schemes.course import running_means
from rating.schemes.figures import Figure, HeadToHead, estimate_figure
from rating.schemes.leaderboard import (
    REWARD,
    Leaderboard,
    LeaderboardColumn,
    LeaderboardRow,
    by_policy,
    common_fields,
    ranked_by_means,
    row_fields,
    with_ranks,
)
from rating.schemes.missing import missing_intervals
from rating.schemes.repeating import Repeating
from rating.schemes.scheme import ADAPTIVE
from rating.schemes.stopping import LEAST_MATCHES, CountRule, SettlingRule
from rating.statistics.bradley_terry import Comparisons, Standings, compare, standings, tallies
from rating.statistics.estimates import Estimate, WinDrawLoss, mean_estimate
from rating.statistics.paired_means import DealResult, reward_cases
from rating.statistics.results import finished, rewards

COMPANY = (
    "the tables were chosen by results, so each policy had co-players of its own: compare ratings; no difference of means is"
    " established"
)


@dataclass(frozen=True, kw_only=True)
class RewardRow(LeaderboardRow):
    """A policy of an environment whose metric is the mean reward.

    Attributes:
        value: mean of the requested statistic; ``None`` if none is requested.
        rating: from pairwise comparisons of rewards at tables of three or more, in Elo; ``None`` at smaller tables.
        low: lower end of its 95 % interval; ``None`` if it is unbounded.
        high: upper end; ``None`` if it is unbounded.
    """

    value: Estimate | None = None
    rating: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def quoted(self) -> Estimate | None:
        """The mean of the statistic, or the mean reward without one."""
        return self.value or self.reward


@dataclass(frozen=True, kw_only=True)
class RewardLeaderboard(Leaderboard):
    """The leaderboard of an environment whose metric is the mean reward.

    Attributes:
        caveats: caveats of the ratings.
        statistic: name of the averaged statistic; empty for none.
    """

    rows: Sequence[RewardRow]
    caveats: tuple[str, ...] = ()
    statistic: str = ""

    def columns(self) -> list[LeaderboardColumn]:
        """Returns the statistic, the mean reward and the rating, if available."""
        columns = [REWARD]
        if self.statistic:
            columns.insert(0, LeaderboardColumn(f"{self.statistic} (n)", lambda row: cells.estimate(row.value)))
        if any(row.rating is not None for row in self.rows):
            columns.append(LeaderboardColumn("rating", lambda row: cells.rating(row.rating, row.low, row.high), 5))
        return columns

    def ranked_by(self) -> str:
        """Names the statistic, or the reward without one."""
        return f"mean {self.statistic or 'reward'}"

    def notes(self) -> list[str]:
        """Returns notes on the rating, caveats, and notes on missing intervals."""
        notes = []
        if any(row.rating is not None for row in self.rows):
            notes.append(
                "rating: Bradley-Terry in Elo, mean 1000, of all pairs at a table by their rewards, equal ones half a win each;"
                " its 95 % interval is clustered by deal"
            )
        return [
            *notes,
            *self.caveats,
            *missing_intervals(value for row in self.rows for value in (row.value, row.reward)),
        ]

    def figures(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the mean rewards with their intervals, their running means, and pairwise comparisons of rewards."""
        label = self.ranked_by()
        means = estimate_figure(((row.policy, row.quoted) for row in self.rows), f"{label} with its 95 % interval")
        return [*means, *running_means(rewards(outcomes, self.statistic), label), *self._pairs(outcomes)]

    def _pairs(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        results = compare(outcomes)
        if not results.policies:
            return []
        found = tallies(results)
        place = {name: index for index, name in enumerate(results.policies)}
        names = [row.policy for row in self.rows if row.policy in place]
        return [
            HeadToHead(
                {
                    one: {
                        other: WinDrawLoss(*map(int, counts))
                        if (counts := found[place[one], place[other]]).any()
                        else None
                        for other in names
                    }
                    for one in names
                }
            )
        ]


class MeanReward(Repeating):
    """Every policy plays every seat on the same deals, for a fixed number of matches or until the means are precise enough."""

    name = "mean_reward"
    can_adapt = True
    rivals = True

    def check(self) -> None:
        """Checks that there is no fixed opponent."""
        self.expect_no("opponent", "since policies are compared by playing each other here")

    def least_policies(self, seats: int) -> int:
        """Returns the number of rated seats, since a policy has at most one seat in a match."""
        return seats

    def batches(self) -> Iterator[list[Match]]:
        """Returns every policy on every seat."""
        return everywhere(self._contest)

    def has_choice(self) -> bool:
        """Returns whether tables can be chosen: only with three or more seats; two-seat games compare means on common deals."""
        return self._contest.seats > 2 and super().has_choice()

    def cycle(self) -> tuple[int, int]:
        """Returns the matches of a policy in a cycle: both seats against every other policy, or every seat of a full table."""
        policies, seats = len(self.setting.policies), self._contest.seats
        each = 2 * (policies - 1) if seats == 2 else seats if policies == seats else 1
        return each, each

    def rule(self) -> CountRule | SettlingRule:
        """Returns the number of matches of each policy, or the settling rule if the run sets a half-width."""
        setting = self.setting
        if setting.half_width is None:
            return self.count_rule()
        return SettlingRule(
            setting.half_width,
            lambda outcome: outcome.seats,
            setting.value,
            min_matches=setting.stop.min_matches or LEAST_MATCHES,
            max_matches=setting.stop.max_matches,
        )

    def cases(self, outcomes: Sequence[Outcome]) -> list[DealResult]:
        """Returns the statistic, or the rewards without one."""
        return reward_cases(outcomes, self.setting.value)

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> RewardLeaderboard:
        """Makes the leaderboard."""
        setting = self.setting
        board = reward_leaderboard(
            outcomes, statistic=setting.value, stop_reason=stop_reason, references=setting.references
        )
        if self.setting.schedule == ADAPTIVE and self.has_choice():
            board = replace(board, rows=with_ranks(board.rows, ()), established=(), caveats=(COMPANY, *board.caveats))
        return board


def reward_leaderboard(
    outcomes: Iterable[Outcome],
    *,
    statistic: str = "",
    stop_reason: str = "",
    references: Mapping[str, float] | None = None,
) -> RewardLeaderboard:
    """Makes the leaderboard of an environment whose metric is the mean reward.

    Args:
        outcomes: all its outcomes, including void ones, in any order; at least one.
        statistic: statistic of the environment to average; empty for none.
        stop_reason: why play stopped.
        references: reference values by label, e.g. the expected payoff in equilibrium.

    Raises:
        ValueError: if there are no outcomes.
    """
    outcomes = list(outcomes)
    ratings = _ratings(outcomes)
    standing = {row.policy: row for row in ratings.rows} if ratings else {}
    values = statistic_means(outcomes, statistic) if statistic else {}
    rows = []
    for policy, matches in by_policy(outcomes).items():
        own = standing.get(policy)
        rows.append(
            RewardRow(
                **row_fields(matches, policy),
                value=values.get(policy),
                rating=own.rating if own else None,
                low=own.low if own else None,
                high=own.high if own else None,
            )
        )
    return RewardLeaderboard(
        **common_fields(outcomes, MeanReward.name, stop_reason, references),
        **ranked_by_means(rows, reward_cases(outcomes, statistic)),
        caveats=ratings.notes if ratings else (),
        statistic=statistic,
    )


def statistic_means(outcomes: Sequence[Outcome], statistic: str) -> dict[str, Estimate | None]:
    """Returns the mean of a statistic by match, clustered by deal, for every policy with a finished match."""
    seeds = {outcome.number: outcome.seed for outcome in outcomes}
    values: dict[str, list[float]] = {}
    deals: dict[str, list[int]] = {}
    for number, policy, value in rewards(outcomes, statistic):
        values.setdefault(policy, []).append(value)
        deals.setdefault(policy, []).append(seeds[number])
    return {policy: mean_estimate(own, deals[policy]) for policy, own in values.items()}


def _ratings(outcomes: Sequence[Outcome]) -> Standings | None:
    """Returns the ratings of policies at tables of three or more; pairs of one table are not independent."""
    pairs = tables_of_many(outcomes)
    return standings(pairs) if pairs.policies else None


def tables_of_many(outcomes: Iterable[Outcome]) -> Comparisons:
    """Returns the results of all pairs at tables of three or more, without a seat advantage."""
    return replace(compare(outcome for outcome in finished(outcomes) if len(outcome.seats) > 2), seated=False)
