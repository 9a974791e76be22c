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
from rating.schemes.figures import Figure, Pairs, estimate_figure
from rating.schemes.leaderboard import REWARD, Column, Leaderboard, Row, by_policy, common_fields, ranked, row_fields
from rating.schemes.missing import missing_intervals
from rating.schemes.repeating import Repeating
from rating.schemes.scheme import ADAPTIVE
from rating.schemes.stopping import CountRule, StandstillRule
from rating.statistics.bradley_terry import Comparisons, Standings, compare, standings, tallies
from rating.statistics.estimates import Tally
from rating.statistics.results import finished, rewards
from rating.statistics.stableness import StablenessRule

COMPANY = "the tables were chosen by results, so each policy had company of its own: compare ratings, not mean rewards"


@dataclass(frozen=True, kw_only=True)
class RewardRow(Row):
    """A policy of an environment whose metric is the mean reward.

    Attributes:
        rating: from who was paid more than whom at tables of three and more, in Elo; ``None`` at smaller ones.
        low: lower end of its 95 % interval; ``None`` if nothing bounds it below.
        high: upper end; ``None`` if nothing bounds it above.
    """

    rating: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class RewardLeaderboard(Leaderboard):
    """The leaderboard of an environment whose metric is the mean reward.

    Attributes:
        caveats: what the data do not establish of the ratings.
    """

    rows: Sequence[RewardRow]
    caveats: tuple[str, ...] = ()

    def columns(self) -> list[Column]:
        """Returns the mean reward and, where there is one, the rating."""
        if all(row.rating is None for row in self.rows):
            return [REWARD]
        return [REWARD, Column("rating", lambda row: cells.rating(row.rating, row.low, row.high), 5)]

    def notes(self) -> list[str]:
        """Says what the rating is, and why intervals are missing."""
        notes = []
        if any(row.rating is not None for row in self.rows):
            notes.append(
                "rating: Bradley-Terry in Elo, mean 1000, of all pairs at a table by their rewards, equal ones half a win each;"
                " its 95 % interval is clustered by deal"
            )
        return [*notes, *self.caveats, *missing_intervals(row.reward for row in self.rows)]

    def figures(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the mean rewards with their intervals, their course, and who was paid more than whom."""
        means = estimate_figure(((row.policy, row.reward) for row in self.rows), "mean reward with its 95 % interval")
        return [*means, *running_means(rewards(outcomes), "mean reward"), *self._pairs(outcomes)]

    def _pairs(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        results = compare(outcomes)
        if not results.policies:
            return []
        found = tallies(results)
        place = {name: index for index, name in enumerate(results.policies)}
        names = [row.policy for row in self.rows if row.policy in place]
        return [
            Pairs(
                {
                    one: {
                        other: Tally(*map(int, counts)) if (counts := found[place[one], place[other]]).any() else None
                        for other in names
                    }
                    for one in names
                }
            )
        ]


class MeanReward(Repeating):
    """Every policy plays every seat on the same deals, a fixed number of matches or until the means stand still."""

    name = "mean_reward"
    can_adapt = True
    rivals = True

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

    def rule(self) -> CountRule | StandstillRule:
        """Returns the number of matches of each policy, or the wait for the means if the run asks for it."""
        setting = self.setting
        if setting.still is None and setting.half_width is None:
            return self.count_rule()
        rule = StablenessRule(setting.stop.window, setting.still, setting.half_width)
        return StandstillRule(rule, setting.stop.max_matches)

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> RewardLeaderboard:
        """Makes the leaderboard."""
        board = reward_leaderboard(outcomes, stop_reason=stop_reason, references=self.setting.references)
        if self.setting.schedule == ADAPTIVE and self.has_choice():
            board = replace(board, caveats=(COMPANY, *board.caveats))
        return board


def reward_leaderboard(
    outcomes: Iterable[Outcome], *, stop_reason: str = "", references: Mapping[str, float] | None = None
) -> RewardLeaderboard:
    """Makes the leaderboard of an environment whose metric is the mean reward.

    Args:
        outcomes: all its outcomes, void ones included, in any order; at least one.
        stop_reason: why no more matches were played.
        references: values to compare with, by what they are, e.g. the expected payoff in equilibrium.

    Raises:
        ValueError: if there are no outcomes.
    """
    outcomes = list(outcomes)
    ratings = _ratings(outcomes)
    standing = {row.policy: row for row in ratings.rows} if ratings else {}
    rows = []
    for policy, matches in by_policy(outcomes).items():
        own = standing.get(policy)
        rows.append(
            RewardRow(
                **row_fields(matches, policy),
                rating=own.rating if own else None,
                low=own.low if own else None,
                high=own.high if own else None,
            )
        )
    return RewardLeaderboard(
        **common_fields(outcomes, MeanReward.name, stop_reason, references),
        rows=ranked(rows, lambda row: row.metric),
        caveats=ratings.notes if ratings else (),
    )


def _ratings(outcomes: Sequence[Outcome]) -> Standings | None:
    """Returns the ratings of policies that met at tables of three and more; a pair of one table is not independent of others."""
    pairs = tables_of_many(outcomes)
    return standings(pairs) if pairs.policies else None


def tables_of_many(outcomes: Iterable[Outcome]) -> Comparisons:
    """Returns the results of all pairs at tables of three and more, where seats are not those of a pair."""
    return replace(compare(outcome for outcome in finished(outcomes) if len(outcome.seats) > 2), seated=False)
