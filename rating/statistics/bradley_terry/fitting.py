"""The fit: ratings of all policies from all matches at once.

The fit sees the matches only as sums that do not depend on their order, so that any order of the log gives the same bytes.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rating.records.outcome import Outcome
from rating.statistics.bradley_terry import davidson
from rating.statistics.bradley_terry.comparisons import Comparisons, Floats, Integers, compare, tie_totals, totals
from rating.statistics.bradley_terry.links import is_connected
from rating.statistics.bradley_terry.model import (
    DEFAULT_PRIOR_SD,
    ELO_PER_NAT,
    MEAN_RATING,
    BradleyTerryOptions,
    inverse_curvature,
    maximise,
)
from rating.statistics.bradley_terry.prior import best_prior_sd


@dataclass(frozen=True, eq=False)
class BradleyTerryFit:
    """Ratings of n policies.

    Attributes:
        policies: names, sorted.
        ratings: in Elo with mean 1000 (in ``Standings.fitted``: the mean of those by which ratings are centred), shape (n,).
        covariance: of the ratings, in Elo squared, shape (n, n). Of the model (inverse Hessian: the Laplace approximation
            of the posterior) or, after ``clustered``, robust.
        seat_advantage: of the first seat, in Elo; 0 without a seat term.
        seat_error: its standard error.
        pairs: number of results used.
        clusters: number of independent groups of them; 0 unless ``clustered`` was applied.
        connected: whether every policy has beaten or tied every other through a chain of others. Where it is false the
            data do not determine the distances, the prior does.
        regularised: whether a prior was used although the options have none.
        options: what was fitted; a prior that was to be found is in it as found.
        tie_term: with ties as a result of their own, the logarithm of how likely a tie between equals is compared with a win;
            ``None`` otherwise.
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
    tie_term: float | None = None

    @property
    def errors(self) -> Floats:
        """Standard errors of the ratings, shape (n,)."""
        # Rounding may leave a little less than 0 of a rating that is fixed.
        return np.sqrt(np.clip(np.diag(self.covariance), 0, None))


def fit(comparisons: Comparisons | Iterable[Outcome], options: BradleyTerryOptions | None = None) -> BradleyTerryFit:
    """Fits ratings to matches.

    Args:
        comparisons: or the outcomes they are made from.
        options: what is fitted.

    Raises:
        ValueError: if ties are to be fitted and there are scores that are neither a win nor a tie nor a loss.
    """
    if not isinstance(comparisons, Comparisons):
        comparisons = compare(comparisons)
    options = options or BradleyTerryOptions()
    if not comparisons.seated:
        options = replace(options, seat_term=False)
    sums = totals(comparisons, options.ties)
    ties = tie_totals(comparisons) if options.ties == "davidson" else None
    return _fit(comparisons.policies, *sums, ties, options)


def fit_counts(
    policies: Sequence[str], counts: Integers, options: BradleyTerryOptions | None = None
) -> BradleyTerryFit:
    """Fits ratings to counts of results.

    Args:
        policies: n names.
        counts: how often each result happened, shape (n, n, 3): first seat, second seat, and 0, 1 or 2 if
            the first lost, tied or won.
        options: what is fitted.

    Raises:
        ValueError: if there is no policy or the counts have another shape.
        ArithmeticError: if the fit does not converge.
    """
    options, size = options or BradleyTerryOptions(), len(policies)
    if not size or np.shape(counts) != (size, size, 3):
        raise ValueError(f"counts: expected shape ({size}, {size}, 3) for one policy or more, got {np.shape(counts)}")
    lost, tied, won = (counts[..., result].astype(float) for result in range(3))
    if options.ties == "drop":
        return _fit(policies, won, won + lost, None, options)
    ties = tied if options.ties == "davidson" else None
    return _fit(policies, won + 0.5 * tied, won + tied + lost, ties, options)


def fit_totals(
    policies: Sequence[str], wins: Floats, games: Floats, options: BradleyTerryOptions | None = None
) -> BradleyTerryFit:
    """Fits ratings to sums of scores.

    Args:
        policies: n names.
        wins: sum of the scores of the row's policy on the first seat against the column's on the second, shape (n, n).
        games: number, or weight, of those games, shape (n, n).
        options: what is fitted; whether ties count as halves or not at all is settled by then.

    Raises:
        ValueError: if there is no policy, the sums have another shape, or ties are to be fitted: sums do not tell them.
        ArithmeticError: if the fit does not converge.
    """
    options = options or BradleyTerryOptions()
    if options.ties == "davidson":
        raise ValueError(
            "ties: expected 'half' or 'drop', got 'davidson', for which results are needed instead of sums"
        )
    return _fit(policies, wins, games, None, options)


def _fit(
    policies: Sequence[str], wins: Floats, games: Floats, ties: Floats | None, options: BradleyTerryOptions
) -> BradleyTerryFit:
    size = len(policies)
    if not size or wins.shape != (size, size) or games.shape != (size, size):
        raise ValueError(
            f"wins and games: expected shape ({size}, {size}) for one policy or more, got {wins.shape} and {games.shape}"
        )
    connected = is_connected(wins, games)
    regularised = options.prior_sd is None and not connected

    def solve(used: BradleyTerryOptions, start: Floats) -> tuple[Floats, Floats]:
        if ties is None:
            x = maximise(wins, games, used, start)
            return x, inverse_curvature(x, games, used)
        x = davidson.maximise(wins, games, ties, used, start)
        return x, davidson.inverse_curvature(x, games, used)

    start = np.zeros(size + 1 + (ties is not None))
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
        None if ties is None else float(x[-1]),
    )


def covariance_of(inverse: Floats, options: BradleyTerryOptions) -> tuple[Floats, float]:
    """Returns the covariance of the centred ratings in Elo squared, and the standard error of the seat advantage.

    Args:
        inverse: covariance of strengths, seat advantage and perhaps a tie term in nats.
        options: what was fitted.
    """
    size = len(inverse) - (2 if options.ties == "davidson" else 1)
    strengths = inverse[:size, :size]
    centred = strengths - strengths.mean(axis=0) - strengths.mean(axis=1, keepdims=True) + strengths.mean()
    seat = math.sqrt(inverse[size, size]) if options.seat_term else 0.0
    return centred * ELO_PER_NAT**2, seat * ELO_PER_NAT


def to_ratings(strengths: Floats) -> Floats:
    """Returns strengths in nats, shape (..., n), as ratings in Elo."""
    return MEAN_RATING + (strengths - strengths.mean(axis=-1, keepdims=True)) * ELO_PER_NAT
