"""Bradley-Terry ratings: one fit to all matches, whatever their order.

Model (Bradley and Terry 1952): the first seat beats the second with probability ``1 / (1 + exp(-(x_i - x_j + s)))``, where
``x`` are the strengths and ``s`` is the advantage of the first seat. Strengths have a Gaussian prior, so that an unbeaten
policy has a finite rating. Ratings are strengths on the Elo scale: base 10, scale 400, mean 1000 (Auto-Arena, arXiv
2405.20267).

The fit sees the matches only as sums that do not depend on their order, so that any order of the log gives the same bytes.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from rating.records.outcome import Outcome
from rating.statistics.bradley_terry.comparisons import Comparisons, Floats, Integers, compare, totals
from rating.statistics.estimates import Z_95

ELO_PER_NAT = 400 / math.log(10)
MEAN_RATING = 1000.0
DEFAULT_PRIOR_SD = 418.0
"""TrueSkill's initial uncertainty on the Elo scale."""


@dataclass(frozen=True)
class BradleyTerryOptions:
    """What is fitted.

    Attributes:
        prior_sd: standard deviation of the prior of the ratings, in Elo; ``None`` for none (maximum likelihood), which
            is replaced by the default, with a flag, where the data alone do not determine finite ratings.
        seat_prior_sd: the same for the seat advantage; it always has a prior.
        seat_term: whether the first seat may have an advantage.
        ties: ``half`` counts a tie as half a win of each, ``drop`` leaves it out.
    """

    prior_sd: float | None = DEFAULT_PRIOR_SD
    seat_prior_sd: float = DEFAULT_PRIOR_SD
    seat_term: bool = True
    ties: str = "half"

    def __post_init__(self) -> None:
        for name in ("prior_sd", "seat_prior_sd"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise ValueError(f"{name}: expected a positive number of Elo points, got {value}")
        if self.ties not in ("half", "drop"):
            raise ValueError(f"ties: expected 'half' or 'drop', got {self.ties!r}")


@dataclass(frozen=True, eq=False)
class BradleyTerryFit:
    """Ratings of n policies.

    Attributes:
        policies: names, sorted.
        ratings: in Elo with mean 1000, shape (n,).
        covariance: of the ratings, in Elo squared, shape (n, n). Of the model (inverse Hessian: the Laplace approximation
            of the posterior) or, after ``clustered``, robust.
        seat_advantage: of the first seat, in Elo; 0 without a seat term.
        seat_error: its standard error.
        pairs: number of results used.
        clusters: number of independent groups of them; 0 unless ``clustered`` was applied.
        connected: whether every policy has beaten or tied every other through a chain of others. Where it is false the
            data do not determine the distances, the prior does.
        regularised: whether a prior was used although the options have none.
        options: what was fitted.
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
        return np.sqrt(np.diag(self.covariance))

    def interval(self, policy: str) -> tuple[float, float]:
        """Returns the 95 % interval of a policy's rating."""
        index = self.policies.index(policy)
        half = Z_95 * float(self.errors[index])
        return float(self.ratings[index]) - half, float(self.ratings[index]) + half


def fit(comparisons: Comparisons | Iterable[Outcome], options: BradleyTerryOptions | None = None) -> BradleyTerryFit:
    """Fits ratings to matches.

    Args:
        comparisons: or the outcomes they are made from.
        options: what is fitted.
    """
    if not isinstance(comparisons, Comparisons):
        comparisons = compare(comparisons)
    options = options or BradleyTerryOptions()
    if not comparisons.seated:
        options = replace(options, seat_term=False)
    return fit_totals(comparisons.policies, *totals(comparisons, options.ties), options)


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
        return fit_totals(policies, won, won + lost, options)
    return fit_totals(policies, won + 0.5 * tied, won + tied + lost, options)


def fit_totals(
    policies: Sequence[str], wins: Floats, games: Floats, options: BradleyTerryOptions | None = None
) -> BradleyTerryFit:
    """Fits ratings to sums of scores.

    Args:
        policies: n names.
        wins: sum of the scores of the row's policy on the first seat against the column's on the second, shape (n, n).
        games: number, or weight, of those games, shape (n, n).
        options: what is fitted; how ties count is settled by then.

    Raises:
        ValueError: if there is no policy or the sums have another shape.
        ArithmeticError: if the fit does not converge.
    """
    size = len(policies)
    if not size or wins.shape != (size, size) or games.shape != (size, size):
        raise ValueError(
            f"wins and games: expected shape ({size}, {size}) for one policy or more, got {wins.shape} and {games.shape}"
        )
    options = options or BradleyTerryOptions()
    connected = is_connected(wins, games)
    regularised = options.prior_sd is None and not connected
    used = replace(options, prior_sd=DEFAULT_PRIOR_SD) if regularised else options
    x = maximise(wins, games, used, np.zeros(size + 1))
    covariance, seat_error = covariance_of(inverse_curvature(x, games, used), used)
    return BradleyTerryFit(
        tuple(policies),
        to_ratings(x[:-1]),
        covariance,
        float(x[-1]) * ELO_PER_NAT,
        seat_error,
        round(games.sum()),
        0,
        connected,
        regularised,
        used,
    )


def is_connected(wins: Floats, games: Floats) -> bool:
    """Says whether the graph of wins and ties is strongly connected."""
    beats = (wins > 0) | (games - wins > 0).T
    return bool(connected_components(sparse.csr_matrix(beats), connection="strong", return_labels=False) == 1)


def probability(d: ArrayLike) -> Floats:
    """Returns the logistic function, without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * np.asarray(d)))


def maximise(wins: Floats, games: Floats, options: BradleyTerryOptions, start: Floats) -> Floats:
    """Returns strengths and seat advantage in nats, shape (..., n + 1), by a damped Newton method from ``start``.

    The step is scaled by ``log(1 + r) / r``, where ``r`` is the greatest change of any difference: with that the method
    converges from anywhere (Sun and Tran-Dinh, "Generalized self-concordant functions", 2019, for logistic losses).
    """
    size = wins.shape[-1]
    precision = _precision(size, options)
    x = np.broadcast_to(start, (*wins.shape[:-2], size + 1)).copy()
    # Rounding leaves a gradient of about this size; the second term is for data of a few games.
    tolerance = 1e-13 * games.sum(axis=(-2, -1)) + 1e-11
    for _ in range(200):
        d = x[..., :-1, None] - x[..., None, :-1] + x[..., -1, None, None]
        residual = wins - games * probability(d)
        gradient = np.concatenate(
            (residual.sum(axis=-1) - residual.sum(axis=-2), residual.sum(axis=(-2, -1))[..., None]), axis=-1
        )
        gradient -= precision * x
        if not options.seat_term:
            gradient[..., -1] = 0.0
        step = np.linalg.solve(_curvature(x, games, options), gradient[..., None])[..., 0]
        converged = np.abs(gradient).max(axis=-1) <= tolerance
        change = np.ptp(step[..., :-1], axis=-1) + np.abs(step[..., -1])
        x += step * np.where(change > 1e-9, np.log1p(change) / np.maximum(change, 1e-9), 1.0)[..., None]
        # The step after the one that met the tolerance squares the remaining error.
        if np.all(converged):
            return x
    worst = float(np.max(np.abs(gradient)))
    raise ArithmeticError(f"the Bradley-Terry fit did not converge: a gradient of {worst:g} is left after 200 steps")


def _precision(size: int, options: BradleyTerryOptions) -> Floats:
    """Returns the inverse variances of the priors in nats, shape (n + 1,)."""
    prior = 0.0 if options.prior_sd is None else (ELO_PER_NAT / options.prior_sd) ** 2
    return np.append(np.full(size, prior), (ELO_PER_NAT / options.seat_prior_sd) ** 2)


def _curvature(x: Floats, games: Floats, options: BradleyTerryOptions) -> Floats:
    """Returns the negative Hessian of the log posterior, shape (..., n + 1, n + 1).

    The common shift of all strengths, which the data do not determine, is given unit curvature; the gradient along it is
    zero, so it changes nothing.
    """
    size = games.shape[-1]
    d = x[..., :-1, None] - x[..., None, :-1] + x[..., -1, None, None]
    p = probability(d)
    weight = games * p * (1 - p)
    rows, columns = weight.sum(axis=-1), weight.sum(axis=-2)
    curvature = np.zeros((*x.shape, size + 1))
    curvature[..., :-1, :-1] = 1.0 / size - weight - np.swapaxes(weight, -1, -2)
    if options.seat_term:
        curvature[..., :-1, -1] = curvature[..., -1, :-1] = rows - columns
    diagonal = np.concatenate((rows + columns, rows.sum(axis=-1, keepdims=True) * options.seat_term), axis=-1)
    diagonal += _precision(size, options)
    index = np.arange(size + 1)
    curvature[..., index, index] += diagonal
    return curvature


def inverse_curvature(x: Floats, games: Floats, options: BradleyTerryOptions) -> Floats:
    """Returns the covariance of strengths and seat advantage in nats (Laplace approximation), shape (n + 1, n + 1)."""
    return np.linalg.inv(_curvature(x, games, options)).astype(np.float64)


def covariance_of(inverse: Floats, options: BradleyTerryOptions) -> tuple[Floats, float]:
    """Returns the covariance of the centred ratings in Elo squared, and the standard error of the seat advantage."""
    strengths = inverse[:-1, :-1]
    centred = strengths - strengths.mean(axis=0) - strengths.mean(axis=1, keepdims=True) + strengths.mean()
    seat = math.sqrt(inverse[-1, -1]) if options.seat_term else 0.0
    return centred * ELO_PER_NAT**2, seat * ELO_PER_NAT


def to_ratings(strengths: Floats) -> Floats:
    """Returns strengths in nats, shape (..., n), as ratings in Elo."""
    return MEAN_RATING + (strengths - strengths.mean(axis=-1, keepdims=True)) * ELO_PER_NAT
