"""Results behind the Bradley-Terry ratings of a leaderboard, and cross-validated predictions of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rating.schemes import caveats
from rating.schemes.base import Scheme
from rating.schemes.leaderboard import Leaderboard
from rating.stats.bradley_terry import Comparisons
from rating.stats.calibration import Calibration, Predictions, calibrate, predict
from rating.store.records import Outcome


@dataclass(frozen=True, eq=False)
class Rated:
    """Pairwise results with Bradley-Terry ratings.

    Attributes:
        board: leaderboard with the ratings.
        comparisons: pairwise results.
    """

    board: Leaderboard
    comparisons: Comparisons

    @cached_property
    def ratings(self) -> dict[str, float | None]:
        """Ratings of the leaderboard by policy."""
        return {row.policy: row.rating.value if row.rating else None for row in self.board.rows}

    @cached_property
    def predictions(self) -> Predictions | None:
        """Prediction of each result from the other deals; ``None`` without other deals."""
        return predict(self.comparisons)

    @cached_property
    def calibration(self) -> Calibration | None:
        """Calibration of the predictions."""
        return None if self.predictions is None else calibrate(self.comparisons, self.predictions)

    def expected(self) -> dict[tuple[str, str], float]:
        """Returns the mean predicted score of the first policy against the second, for pairs that met."""
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


def rated_results(board: Leaderboard, outcomes: Sequence[Outcome], scheme: Scheme) -> Rated | None:
    """Returns the results rated by Bradley-Terry, or ``None`` without such ratings.

    Args:
        board: the leaderboard.
        outcomes: outcomes of its environment; matches of withheld policies are excluded.
        scheme: scheme of the environment.
    """
    comparisons = scheme.comparisons(caveats.shown_matches(board, outcomes))
    return Rated(board, comparisons) if comparisons is not None and comparisons.policies else None
