"""Mean reward: games whose payoff is the metric, with any number of players.

Source: LLMArena (arXiv 2402.16499, section 3.1) for bid.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.schedules.everywhere import everywhere
from rating.schemes.figures import Figure, estimate_figure
from rating.schemes.leaderboard import Leaderboard, Row, by_policy, common_fields, ranked, row_fields
from rating.schemes.repeating import Repeating
from rating.schemes.standstill import StandstillRule
from rating.schemes.stopping import CountRule
from rating.statistics.stableness import StablenessRule


@dataclass(frozen=True, kw_only=True)
class RewardLeaderboard(Leaderboard):
    """The leaderboard of an environment whose metric is the mean reward."""

    def figures(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the mean rewards with their intervals."""
        return estimate_figure(((row.policy, row.reward) for row in self.rows), "mean reward with its 95 % interval")


class MeanReward(Repeating):
    """Every policy plays every seat on the same deals, a fixed number of matches or until the means stand still."""

    name = "mean_reward"
    rivals = True

    def least_policies(self, seats: int) -> int:
        """Returns the number of rated seats: nobody plays two of them."""
        return seats

    def batches(self) -> Iterator[list[Match]]:
        """Returns every policy on every seat."""
        return everywhere(self._contest)

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
        return reward_leaderboard(outcomes, stop_reason=stop_reason, references=self.setting.references)


def reward_leaderboard(
    outcomes: Iterable[Outcome], *, stop_reason: str = "", references: Mapping[str, float] | None = None, seed: int = 0
) -> RewardLeaderboard:
    """Makes the leaderboard of an environment whose metric is the mean reward.

    Args:
        outcomes: all its outcomes, void ones included, in any order; at least one.
        stop_reason: why no more matches were played.
        references: values to compare with, by what they are, e.g. the expected payoff in equilibrium.
        seed: of the resampling.

    Raises:
        ValueError: if there are no outcomes.
    """
    outcomes = list(outcomes)
    rows = [Row(**row_fields(matches, policy, seed)) for policy, matches in by_policy(outcomes).items()]
    return RewardLeaderboard(
        **common_fields(outcomes, MeanReward.name, stop_reason, references),
        rows=ranked(rows, lambda row: row.metric),
    )
