"""The Bradley-Terry model, the mode of its posterior, and the width of its prior.

The first seat beats the second with probability ``1 / (1 + exp(-(x_i - x_j + s)))``, where ``x`` are the strengths and ``s`` is
the advantage of the first seat (Bradley and Terry 1952). Strengths have a Gaussian prior with a free mean, so an unbeaten
policy has a finite rating. Ratings are strengths on the Elo scale: base 10, scale 400 (Auto-Arena, arXiv 2405.20267v1).

The fit uses only sums that do not depend on the order of the matches, so any order of the log gives identical bytes.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from rating.stats.bradley_terry.comparisons import Comparisons, totals
from rating.stats.bradley_terry.links import is_connected
from rating.stats.estimates import Z_95, Floats

ELO_PER_NAT = 400 / math.log(10)
MEAN_RATING = 1000.0

DEFAULT_PRIOR_SD = 418.0
"""TrueSkill's initial uncertainty on the Elo scale."""

TIES = ("half", "drop")

LEAST_PRIOR_SD = 100.0
GREATEST_PRIOR_SD = 2000.0

_PRIOR_POLICIES = 1.0
"""Weight of the default width, in policies: a pool of two or three is little evidence of its width."""


@dataclass(frozen=True)
class BradleyTerryOptions:
    """Options of the fit.

    Attributes:
        prior_sd: standard deviation of the prior of the ratings, in Elo; ``fitted`` to estimate it from the pool
            (``best_prior_sd``); ``None`` for none (maximum likelihood), replaced by the default, with a flag, if the data alone
            do not determine finite ratings.
        seat_term: whether the first seat may have an advantage; its prior has the default width.
        ties: ``half`` counts a tie as half a win of each: ratings are then on the scale of the expected score, which places
            policies that often tie closer together than their decided games do. ``drop`` leaves ties out.
    """

    prior_sd: float | Literal["fitted"] | None = DEFAULT_PRIOR_SD
    seat_term: bool = True
    ties: str = "half"

    def __post_init__(self) -> None:
        sd = self.prior_sd
        if sd is not None and sd != "fitted" and not (isinstance(sd, int | float) and 0 < sd < math.inf):
            raise ValueError(f"prior_sd: expected a positive number of Elo points, got {sd!r}")
        if self.ties not in TIES:
            raise ValueError(f"ties: expected {', '.join(map(repr, TIES))}, got {self.ties!r}")

    def with_prior(self, sd: float) -> "BradleyTerryOptions":
        """Returns a copy with a prior of this width."""
        return replace(self, prior_sd=sd)


def probability(d: ArrayLike) -> Floats:
    """Returns the logistic function, without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * np.asarray(d)))


def maximise(wins: Floats, games: Floats, options: BradleyTerryOptions, start: Floats) -> Floats:
    """Returns strengths and seat advantage in nats, shape (..., n + 1), by Newton's method from ``start``.

    A step that does not halve the gradient is undone and multiplied by ``log(1 + r) / r``, where ``r`` is the largest change of
    any difference. With this damping the method converges globally (Sun and Tran-Dinh, "Generalized self-concordant functions",
    2019, for logistic losses).
    """
    size = wins.shape[-1]
    prior = precision(size, options)
    x = np.broadcast_to(start, (*wins.shape[:-2], size + 1)).copy()
    before, shorter = np.full(x.shape[:-1], np.inf), x
    # Rounding leaves a gradient of about this size; the second term is for data of a few games.
    tolerance = 1e-13 * games.sum(axis=(-2, -1)) + 1e-11
    for _ in range(400):
        p = probability(differences(x))
        expected = games * p
        residual = wins - expected
        gradient = np.concatenate(
            (residual.sum(axis=-1) - residual.sum(axis=-2), residual.sum(axis=(-2, -1))[..., None]), axis=-1
        )
        gradient -= prior * x
        if not options.seat_term:
            gradient[..., -1] = 0.0
        left = np.abs(gradient).max(axis=-1)
        too_long = (left > before / 2) & (left > tolerance)
        if np.any(too_long):
            x, before = np.where(too_long[..., None], shorter, x), np.where(too_long, np.inf, before)
            continue
        step = np.linalg.solve(curvature(expected * (1 - p), options), gradient[..., None])[..., 0]
        change = np.ptp(step[..., :-1], axis=-1) + np.abs(step[..., -1])
        x, shorter, before = x + step, x + step * damping(change)[..., None], left
        # A step squares the error, so only rounding is left after such a small one.
        if np.all((left <= tolerance) | (change <= 1e-8)):
            return x
    raise no_convergence(gradient)


def differences(x: Floats) -> Floats:
    """Returns the lead of the row policy on the first seat over the column policy, shape (..., n, n), from shape (..., n + 1)."""
    return x[..., :-1, None] - x[..., None, :-1] + x[..., -1, None, None]


def damping(change: Floats) -> Floats:
    """Returns the damping factor of a Newton step with this change of differences."""
    return np.where(change > 1e-9, np.log1p(change) / np.maximum(change, 1e-9), 1.0)


def no_convergence(gradient: Floats) -> ArithmeticError:
    """Returns the error for a fit without convergence."""
    worst = float(np.max(np.abs(gradient)))
    return ArithmeticError(f"the Bradley-Terry fit did not converge: a gradient of {worst:g} is left")


def precision(size: int, options: BradleyTerryOptions) -> Floats:
    """Returns the inverse variances of the priors in nats, shape (n + 1,)."""
    if isinstance(options.prior_sd, str):
        raise TypeError(f"prior_sd: expected a number by now, got {options.prior_sd!r}")
    prior = 0.0 if options.prior_sd is None else (ELO_PER_NAT / options.prior_sd) ** 2
    return np.append(np.full(size, prior), (ELO_PER_NAT / DEFAULT_PRIOR_SD) ** 2)


def curvature(weight: Floats, options: BradleyTerryOptions) -> Floats:
    """Returns the negative Hessian of the log posterior, shape (..., n + 1, n + 1).

    The data do not determine the common shift of all strengths. It gets unit curvature, which does not affect results because
    the gradient along it is zero.

    Args:
        weight: information of the games of each pair, i.e. games times p (1 - p), shape (..., n, n).
        options: options of the fit.
    """
    size = weight.shape[-1]
    result = information(weight, seat_term=options.seat_term)
    result[..., :-1, :-1] += 1.0 / size
    index = np.arange(size + 1)
    result[..., index, index] += precision(size, options)
    return result


def information(weight: Floats, *, seat_term: bool) -> Floats:
    """Returns the negative Hessian of the log likelihood in strengths and seat advantage, shape (..., n + 1, n + 1).

    Args:
        weight: information of the games of each pair, i.e. games times p (1 - p), shape (..., n, n).
        seat_term: whether the first seat may have an advantage.
    """
    size = weight.shape[-1]
    rows, columns = weight.sum(axis=-1), weight.sum(axis=-2)
    result = np.zeros((*weight.shape[:-2], size + 1, size + 1))
    result[..., :-1, :-1] = -weight - np.swapaxes(weight, -1, -2)
    index = np.arange(size)
    result[..., index, index] += rows + columns
    if seat_term:
        result[..., :-1, -1] = result[..., -1, :-1] = rows - columns
        result[..., -1, -1] = rows.sum(axis=-1)
    return result


def inverse_curvature(x: Floats, games: Floats, options: BradleyTerryOptions) -> Floats:
    """Returns the covariance of strengths and seat advantage in nats (Laplace approximation), shape (n + 1, n + 1)."""
    p = probability(differences(x))
    return np.linalg.inv(curvature(games * p * (1 - p), options)).astype(np.float64)


def best_prior_sd(
    solve: Callable[[BradleyTerryOptions, Floats], tuple[Floats, Floats]],
    options: BradleyTerryOptions,
    start: Floats,
    size: int,
) -> float:
    """Returns the prior width in Elo, for any fitting method.

    The fixed point of MacKay ("Bayesian interpolation", 1992) for the marginal likelihood in Laplace's approximation: the sum
    of squares of the strengths over the number of strengths determined by the data, which is n - 1 minus the part determined by
    the prior.

    Args:
        solve: returns the posterior mode and the inverse curvature, the n strengths in nats first.
        options: options of the fit.
        start: starting point of the first search.
        size: number of policies.
    """
    sd, x = DEFAULT_PRIOR_SD, start
    for _ in range(50):
        x, inverse = solve(options.with_prior(sd), x)
        determined = _determined(inverse, sd, size)
        squares = ELO_PER_NAT**2 * float(x[:size] @ x[:size]) + _PRIOR_POLICIES * DEFAULT_PRIOR_SD**2
        before, sd = sd, float(np.sqrt(squares / (determined + _PRIOR_POLICIES)))
        sd = min(max(sd, LEAST_PRIOR_SD), GREATEST_PRIOR_SD)
        if abs(sd - before) <= 1e-3 * sd:
            break
    return sd


def _determined(inverse: Floats, sd: float, size: int) -> float:
    """Returns the effective number of strengths determined by the data."""
    prior = (ELO_PER_NAT / sd) ** 2
    variances = float(np.trace(inverse[:size, :size])) - 1 / (1 + prior)  # minus the variance of the common shift
    return max(0.0, size - 1 - prior * variances)


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


def fit(comparisons: Comparisons, options: BradleyTerryOptions | None = None) -> BradleyTerryFit:
    """Fits ratings to results of pairs.

    Args:
        comparisons: the results.
        options: options of the fit.
    """
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
