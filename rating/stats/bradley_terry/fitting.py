"""Fits the ratings of all policies to all matches at once.

The fit uses only sums that do not depend on the order of the matches, so any order of the log gives identical bytes.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from rating.stats.bradley_terry.comparisons import Comparisons, Floats, compare, totals
from rating.stats.bradley_terry.links import is_connected
from rating.stats.bradley_terry.model import (
    DEFAULT_PRIOR_SD,
    ELO_PER_NAT,
    MEAN_RATING,
    BradleyTerryOptions,
    inverse_curvature,
    maximise,
)
from rating.stats.bradley_terry.prior import best_prior_sd
from rating.stats.estimates import Z_95
from rating.store.outcome import Outcome


@dataclass(frozen=True, eq=False)
class BradleyTerryFit:
    """Ratings of n policies.

    Attributes:
        policies: names, sorted.
        ratings: in Elo, shape (n,), with mean 1000 over all policies (in ``Standings.fitted``: over the anchors).
        covariance: of the ratings, in Elo squared, shape (n, n): the model's (inverse Hessian, i.e. the Laplace approximation
            of the posterior) or, after ``clustered``, robust.
        seat_advantage: advantage of the first seat, in Elo; 0 without a seat term.
        seat_error: its standard error.
        pairs: number of results.
        clusters: number of independent groups of results; 0 unless ``clustered`` was applied.
        connected: whether every policy has beaten or tied every other through a chain; if not, the prior determines the
            distances.
        regularised: whether a prior was used although the options have none.
        options: options of the fit, with the prior that was used.
    """

    policies: tuple[str, ...]
    ratings: Floats
    covariance: Floats
    seat_advantage: float
    seat_error: float
    pairs: int
    clusters: int
    connected: bool
    regularised: bool
    options: BradleyTerryOptions

    @property
    def errors(self) -> Floats:
        """Standard errors of the ratings, shape (n,)."""
        # Rounding can make the variance of a fixed rating slightly negative.
        return np.sqrt(np.clip(np.diag(self.covariance), 0, None))

    @property
    def reach(self) -> float:
        """Standard errors on either side in a 95 % interval: Student's quantile after ``clustered``, otherwise the normal one."""
        if not self.clusters:
            return Z_95
        return float(stdtrit(self.clusters - 1, 0.975)) if self.clusters > 1 else math.inf


def fit(comparisons: Comparisons | Iterable[Outcome], options: BradleyTerryOptions | None = None) -> BradleyTerryFit:
    """Fits ratings to matches.

    Args:
        comparisons: results, or outcomes to convert.
        options: options of the fit.
    """
    if not isinstance(comparisons, Comparisons):
        comparisons = compare(comparisons)
    options = options or BradleyTerryOptions()
    if not comparisons.seated:
        options = replace(options, seat_term=False)
    return fit_totals(comparisons.policies, *totals(comparisons, options.ties), options)


def fit_totals(
    policies: Sequence[str], wins: Floats, games: Floats, options: BradleyTerryOptions | None = None
) -> BradleyTerryFit:
    """Fits ratings to sums of scores.

    Args:
        policies: n names.
        wins: sum of the scores of the row policy on the first seat against the column policy on the second, shape (n, n).
        games: number, or weight, of these games, shape (n, n).
        options: options of the fit; ``ties`` is ignored.

    Raises:
        ValueError: if there is no policy or the sums have another shape.
        ArithmeticError: if the fit does not converge.
    """
    options = options or BradleyTerryOptions()
    size = len(policies)
    if not size or wins.shape != (size, size) or games.shape != (size, size):
        raise ValueError(
            f"wins and games: expected shape ({size}, {size}) for one policy or more, got {wins.shape} and {games.shape}"
        )
    connected = is_connected(wins, games)
    regularised = options.prior_sd is None and not connected

    def solve(used: BradleyTerryOptions, start: Floats) -> tuple[Floats, Floats]:
        x = maximise(wins, games, used, start)
        return x, inverse_curvature(x, games, used)

    start = np.zeros(size + 1)
    if options.prior_sd == "fitted":
        options = options.with_prior(best_prior_sd(solve, options, start, size))
    used = options.with_prior(DEFAULT_PRIOR_SD) if regularised else options
    x, inverse = solve(used, start)
    covariance, seat_error = covariance_of(inverse, used)
    return BradleyTerryFit(
        tuple(policies),
        to_ratings(x[:size]),
        covariance,
        float(x[size]) * ELO_PER_NAT,
        seat_error,
        round(games.sum()),
        0,
        connected,
        regularised,
        used,
    )


def covariance_of(inverse: Floats, options: BradleyTerryOptions) -> tuple[Floats, float]:
    """Returns the covariance of the centred ratings in Elo squared, and the standard error of the seat advantage.

    Args:
        inverse: covariance of strengths and seat advantage in nats, shape (n + 1, n + 1).
        options: options of the fit.
    """
    strengths = inverse[:-1, :-1]
    centred = strengths - strengths.mean(axis=0) - strengths.mean(axis=1, keepdims=True) + strengths.mean()
    seat = math.sqrt(inverse[-1, -1]) if options.seat_term else 0.0
    return centred * ELO_PER_NAT**2, seat * ELO_PER_NAT


def to_ratings(strengths: Floats) -> Floats:
    """Returns ratings in Elo for strengths in nats, shape (..., n)."""
    return MEAN_RATING + (strengths - strengths.mean(axis=-1, keepdims=True)) * ELO_PER_NAT
