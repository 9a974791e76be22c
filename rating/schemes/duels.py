"""Duels: two-player matches rated by Bradley-Terry and TrueSkill.

Source: LLMArena (arXiv 2402.16499) for TrueSkill; see ``rating.stats`` for the rating systems.
"""

from collections.abc import Iterator, Sequence

from llmarena_envs.core.options import OptionError
from rating.schedules.round_robin import round_robin
from rating.schemes.figures import Figure
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.repeating import Repeating
from rating.schemes.scheme import ADAPTIVE
from rating.schemes.skill_board import skill_figures, skill_leaderboard
from rating.schemes.stopping import StopRule
from rating.schemes.stopping.conditions import TopKnown
from rating.stats.bradley_terry import Comparisons, compare
from rating.store.match import Match
from rating.store.outcome import Outcome


class Duels(Repeating):
    """Pairs play both seat orders of every deal until the ranking is resolved; pairings adapt to the results."""

    name = "duels"
    can_adapt = True
    standard_schedule = ADAPTIVE
    rivals = True

    def check(self) -> None:
        """Checks that two seats are rated, that there is no fixed opponent, and the K of ``top=K``."""
        super().check()
        self._contest.check(f"{self.setting.environment}, whose players are compared by duels", policies=2, seats=2)
        for condition in self.setting.stop.conditions():
            if isinstance(condition, TopKnown) and condition.count >= len(self.setting.policies):
                raise OptionError(
                    f"{self.setting.environment}: stop rule: expected top=K with K below the number of policies,"
                    f" {len(self.setting.policies)}; got top={condition.count}"
                )

    def least_policies(self, seats: int) -> int:
        """Returns 2: ratings need an opponent."""
        return 2

    def batches(self) -> Iterator[list[Match]]:
        """Returns a round robin."""
        return round_robin(self._contest)

    def rule(self) -> StopRule:
        """Returns the rule of the run."""
        return self.setting.stop

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> Leaderboard:
        """Makes the leaderboard; its ranks account for repeated looks of the stopping rule."""
        return skill_leaderboard(outcomes, stop_reason=stop_reason, growth=self.setting.stop.growth)

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the ratings, their course and the results of every pair."""
        return skill_figures(board, outcomes)

    def comparisons(self, outcomes: Sequence[Outcome]) -> Comparisons:
        """Returns the results of all pairs."""
        return compare(outcomes)
