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
        value: mean of the statistic that the run asks for; ``None`` if it asks for none.
        rating: from who was paid more than whom at tables of three and more, in Elo; ``None`` at smaller ones.
        low: lower end of its 95 % interval; ``None`` if nothing bounds it below.
        high: upper end; ``None`` if nothing bounds it above.
    """

    value: Estimate | None = None
    rating: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def quoted(self) -> Estimate | None:
        """The mean of the statistic, or the reward if the run asks for none."""
        return self.value or self.reward


@dataclass(frozen=True, kw_only=True)
class RewardLeaderboard(Leaderboard):
    """The leaderboard of an environment whose metric is the mean reward.

    Attributes:
        caveats: what the data do not establish of the ratings.
        statistic: name of the statistic that is averaged; empty for none.
    """

    rows: Sequence[RewardRow]
    caveats: tuple[str, ...] = ()
    statistic: str = ""

    def columns(self) -> list[LeaderboardColumn]:
        """Returns the statistic if there is one, the mean reward and, where there is one, the rating."""
        columns = [REWARD]
        if self.statistic:
            columns.insert(0, LeaderboardColumn(f"{self.statistic} (n)", lambda row: cells.estimate(row.value)))
        if any(row.rating is not None for row in self.rows):
            columns.append(LeaderboardColumn("rating", lambda row: cells.rating(row.rating, row.low, row.high), 5))
        return columns

    def ranked_by(self) -> str:
        """Names the statistic, or the reward if there is none."""
        return f"mean {self.statistic or 'reward'}"

    def notes(self) -> list[str]:
        """Says what the rating is, and why intervals are missing."""
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
        """Returns the mean rewards with their intervals, their course, and who was paid more than whom."""
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
    """Every policy plays every seat on the same deals, a fixed number of matches or until the means are known."""

    name = "mean_reward"
    can_adapt = True
    rivals = True

    def check(self) -> None:
        """Checks that there is no fixed opponent."""
        self.expect_no("opponent", "since policies are compared by playing each other here")

    def least_policies(self, seats: int) -> int:
        """Returns the number of rated seats: nobody plays two of them."""
        return seats

    def batches(self) -> Iterator[list[Match]]:
        """Returns every policy on every seat."""
        return everywhere(self._contest)

    def has_choice(self) -> bool:
        """Says whether tables of three and more can be chosen; two play on the deals of all, which makes means comparable."""
        return self._contest.seats > 2 and super().has_choice()

    def cycle(self) -> tuple[int, int]:
        """Returns both seats against every other policy where two play, and every seat where all policies fill the table."""
        policies, seats = len(self.setting.policies), self._contest.seats
        each = 2 * (policies - 1) if seats == 2 else seats if policies == seats else 1
        return each, each

    def rule(self) -> CountRule | SettlingRule:
        """Returns the number of matches of each policy, or the wait for the means if the run asks for it."""
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
        """Returns the statistic, or the rewards if the run asks for none."""
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
        outcomes: all its outcomes, void ones included, in any order; at least one.
        statistic: which of the environment's statistics is averaged; empty for none.
        stop_reason: why no more matches were played.
        references: values to compare with, by what they are, e.g. the expected payoff in equilibrium.

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
    """Returns the mean of a statistic of the environment by match, clustered by deal, for every policy with a finished match."""
    seeds = {outcome.number: outcome.seed for outcome in outcomes}
    values: dict[str, list[float]] = {}
    deals: dict[str, list[int]] = {}
    for number, policy, value in rewards(outcomes, statistic):
        values.setdefault(policy, []).append(value)
        deals.setdefault(policy, []).append(seeds[number])
    return {policy: mean_estimate(own, deals[policy]) for policy, own in values.items()}


def _ratings(outcomes: Sequence[Outcome]) -> Standings | None:
    """Returns the ratings of policies that met at tables of three and more; a pair of one table is not independent of others."""
    pairs = tables_of_many(outcomes)
    return standings(pairs) if pairs.policies else None


def tables_of_many(outcomes: Iterable[Outcome]) -> Comparisons:
    """Returns the results of all pairs at tables of three and more, where seats are not those of a pair."""
    return replace(compare(outcome for outcome in finished(outcomes) if len(outcome.seats) > 2), seated=False)
