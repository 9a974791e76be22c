"""Ratings of a tournament as in Auto-Arena (arXiv 2405.20267v1, section 4.1), and their agreement with other scores.

Bradley-Terry by maximum likelihood on the Elo scale with mean 1000 and no advantage of a side, since sides are drawn. A tie
counts as half a win of each, or is left out; the paper's tournament uses halves, its published ratings leave ties out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.auto_arena.correlation import Correlation, correlate
from benchmarks.experiments.bootstrap import bootstrap
from rating.schemes.tournament import model
from rating.stats import bradley_terry
from rating.stats.bradley_terry import BradleyTerryFit
from rating.stats.estimates import Estimate
from rating.store.records import Outcome

TIES = ("half", "drop")
DRAWS = 1000


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of the players of some battles.

    Attributes:
        fitted: to all battles.
        drawn: resampled ratings, shape (draws, n), in the order of ``fitted.policies``: fitted to resampled battles; or, if the
            battles alone determine no ratings, drawn from the model's posterior, since resampled battles of an unbeaten player
            have no variation.
        battles: number of counted battles by player.
    """

    fitted: BradleyTerryFit
    drawn: NDArray[np.float64]
    battles: Mapping[str, int]

    def values(self) -> dict[str, float]:
        """Returns the rating of every player, the best first, equals by name."""
        pairs = zip(self.fitted.policies, self.fitted.ratings.tolist(), strict=True)
        return dict(sorted(pairs, key=lambda pair: (-round(pair[1], 6), pair[0])))

    def estimates(self) -> dict[str, Estimate]:
        """Returns ratings with 95 % intervals from ``drawn``, in the order of ``values``."""
        low, high = np.quantile(self.drawn, (0.025, 0.975), axis=0)
        place = {policy: index for index, policy in enumerate(self.fitted.policies)}
        return {
            policy: Estimate(
                value,
                min(value, float(low[place[policy]])),
                max(value, float(high[place[policy]])),
                self.battles[policy],
                self.battles[policy],
            )
            for policy, value in self.values().items()
        }

    def spearman(self, scores: Mapping[str, float | None]) -> Estimate | None:
        """Returns the rank correlation with some scores, with its 95 % interval from ``drawn``.

        Resampled ratings contain the sampling error twice, so the interval is rather low; it is widened to include the value.
        """
        found = self.correlation(scores)
        if found.spearman is None:
            return None
        names = self.fitted.policies
        drawn = [correlate(dict(zip(names, row, strict=True)), scores).spearman for row in self.drawn.round(6).tolist()]
        low, high = np.quantile([value for value in drawn if value is not None] or [found.spearman], (0.025, 0.975))
        return Estimate(
            found.spearman, min(found.spearman, float(low)), max(found.spearman, float(high)), found.n, found.n
        )

    def correlation(self, scores: Mapping[str, float | None]) -> Correlation:
        """Returns the rank agreement of the ratings with some scores."""
        return correlate({policy: round(value, 6) for policy, value in self.values().items()}, scores)


def rate(outcomes: Sequence[Outcome], ties: str = "half", *, seed: int = 0) -> Ratings | None:
    """Rates the players of battles.

    Args:
        outcomes: of one environment; those without a result are left out.
        ties: ``half`` or ``drop``.
        seed: of the resampling, which draws whole deals again.

    Returns:
        ``None`` without a result.
    """
    options = model(ties)
    comparisons = bradley_terry.compare(outcomes)
    if not len(comparisons.score):
        return None
    used = comparisons.select(comparisons.score != 0.5) if ties == "drop" else comparisons
    sides = np.concatenate((used.first, used.second))
    counts = np.bincount(sides, minlength=len(comparisons.policies)).tolist()
    fitted = bradley_terry.fit(comparisons, options)
    if fitted.regularised:
        generator = np.random.default_rng(seed)
        drawn = generator.multivariate_normal(fitted.ratings, fitted.covariance, DRAWS, method="eigh")
    else:
        drawn = bootstrap(comparisons, options, resamples=DRAWS, seed=seed)
    return Ratings(
        fitted,
        drawn,
        dict(zip(comparisons.policies, counts, strict=True)),
    )
