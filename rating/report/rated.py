"""The results that Bradley-Terry ratings of a leaderboard are made from, and what such ratings predict of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rating.records.outcome import Outcome
from rating.schemes import reservations
from rating.schemes.battles import BattleLeaderboard
from rating.schemes.duels import Duels
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.mean_reward import RewardLeaderboard, tables_of_many
from rating.schemes.skill_board import SkillLeaderboard
from rating.schemes.tournament import Tournament
from rating.statistics import bradley_terry
from rating.statistics.bradley_terry import Comparisons
from rating.statistics.calibration import Calibration, Predictions, calibrate, predict
from rating.statistics.results import rated_seats


@dataclass(frozen=True, eq=False)
class Rated:
    """Results of pairs of policies that are rated by Bradley-Terry.

    Attributes:
        board: the leaderboard that has the ratings.
        comparisons: the results.
    """

    board: Leaderboard
    comparisons: Comparisons

    @cached_property
    def ratings(self) -> dict[str, float | None]:
        """The ratings as the leaderboard has them."""
        assert isinstance(self.board, SkillLeaderboard | RewardLeaderboard | BattleLeaderboard)
        return {row.policy: row.rating for row in self.board.rows}

    @cached_property
    def predictions(self) -> Predictions | None:
        """What is predicted of each result from other deals; ``None`` where there is no other."""
        return predict(self.comparisons)

    @cached_property
    def calibration(self) -> Calibration | None:
        """The predictions beside the results."""
        return None if self.predictions is None else calibrate(self.comparisons, self.predictions)

    def expected(self) -> dict[tuple[str, str], float]:
        """Returns the mean score predicted of the first of two names against the second, of those who met."""
        if self.predictions is None:
            return {}
        own, names = self.comparisons, self.comparisons.policies
        size = len(names)
        sums, counts = np.zeros((size, size)), np.zeros((size, size))
        np.add.at(sums, (own.first, own.second), self.predictions.score)
        np.add.at(sums, (own.second, own.first), 1 - self.predictions.score)
        np.add.at(counts, (own.first, own.second), 1)
        counts += counts.T
        return {
            (names[row], names[column]): float(sums[row, column] / counts[row, column])
            for row, column in np.argwhere(counts)
        }


def rated_results(board: Leaderboard, outcomes: Sequence[Outcome]) -> Rated | None:
    """Returns what is rated by Bradley-Terry; ``None`` where nothing is.

    Args:
        board: of any scheme.
        outcomes: of its environment; matches of policies whose ratings are withheld are left out.
    """
    withheld = {row.policy for row in board.rows if row.withheld}
    shown = [
        outcome
        for outcome in reservations.counted(outcomes, board.scheduled)
        if not any(seat.policy in withheld for seat in rated_seats(outcome))
    ]
    if board.scheme in (Duels.name, Tournament.name):
        comparisons = bradley_terry.compare(shown)
    elif isinstance(board, RewardLeaderboard) and any(row.rating is not None for row in board.rows):
        comparisons = tables_of_many(shown)
    else:
        return None
    return Rated(board, comparisons) if comparisons.policies else None
