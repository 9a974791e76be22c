"""Adaptive pairing: chooses the pair that resolves the ranking in the fewest games.

The state is the Bradley-Terry posterior in nats: strengths ``x``, the advantage of the first seat, and their covariance ``S``
(Laplace approximation), under a Gaussian prior with a width fitted to the pool (MacKay 1992). The goal is the ranking, so the
weight of a pair depends on how well it is resolved. With ``d`` the difference of two strengths, ``v`` its variance and ``z = d
/ sqrt(v)``, the criterion is the trace of ``L S``, i.e. the sum over all pairs of ``a v``, where ``a = 1 / (v (1 + z^2)^2)``
and ``L`` is the Laplacian of ``a``. Games of a pair have the information ``w = m p (1 - p)``, summed over both seat orders, and
reduce the criterion by ``w / (1 + w v) u' S L S u``, where ``u`` is +1 and -1 at the two: the gain. Minimising a linear
function of the covariance is L-optimal design (Chaloner and Verdinelli 1995, "Bayesian experimental design: a review",
Statistical Science 10, section 2).

Choices based on results select on noise: a policy with early luck looks resolved, gets no further games, and keeps its luck
(Nie et al. 2018, "Why adaptively collected data have negative bias and how to correct for it"). So a share of the choices
ignores results and takes the D-optimal pair of equal policies: the one with the largest increase of the determinant of the
precision. This share is the part of the spread of the strengths that can be noise: the sum of their variances over this sum
plus their sum of squares. It is 1 before the first result, stays high for equal policies, and falls as policies separate.

In-flight games count in the covariance, as if played, but not in the strengths, which need results.
"""

import numpy as np

from rating.stats.bradley_terry import DEFAULT_PRIOR_SD, ELO_PER_NAT
from rating.stats.bradley_terry.model import damping, differences, information, probability
from rating.stats.estimates import Floats

_LEAST_PRIOR_SD = 10.0
"""In Elo. Without this limit, the width for equal policies is fitted as 0 and cannot grow again."""

_LEAST_DETERMINED = 1e-3
"""Minimum effective number of strengths determined by the data; avoids a division by 0."""

_PRIOR_STEPS = 3
"""Fixed-point steps per fit of the prior width."""

_TIE = 1e-6
"""Relative difference below which gains are equal, so machine-dependent rounding has no effect."""

_SMALL = 3e-5
"""Convergence threshold for a Newton step; each step squares the error."""

_STEPS = 100


class Design:
    """Posterior of a pool and the gain of further games of each pair.

    Arrays may have leading axes for independent designs, as in simulations.

    Args:
        size: number of policies n, 2 or more.
        meetings: games per chosen pair, half of them in each seat order.
        seed: seed for ties and for the choices that ignore results.
        seat_term: whether the earlier seat may have an advantage.
        refit_prior: number of new results between fits of the prior width.
        shape: shape of the leading axes.
    """

    def __init__(
        self,
        size: int,
        *,
        meetings: float = 2.0,
        seed: int = 0,
        seat_term: bool = True,
        refit_prior: int = 28,
        shape: tuple[int, ...] = (),
    ) -> None:
        if size < 2:
            raise ValueError(f"size: expected two policies or more, got {size}")
        self._meetings = meetings
        self._seat_term = seat_term
        self._refit_prior = refit_prior
        self._rng = np.random.default_rng(seed)
        self._wins = np.zeros((*shape, size, size))
        self._games = np.zeros((*shape, size, size))
        self._under_way = np.zeros((*shape, size, size))
        self._variance = np.full(shape, (DEFAULT_PRIOR_SD / ELO_PER_NAT) ** 2)
        self._x = np.zeros((*shape, size + 1))
        self._since_prior = 0.0
        self._is_fitted = True
        self._covariance: Floats | None = None
        self._noise_share: Floats | None = None

    @property
    def strengths(self) -> Floats:
        """Posterior mean of the strengths in nats, shape (..., n)."""
        self._refit()
        return self._x[..., :-1]

    @property
    def covariance(self) -> Floats:
        """Covariance of the strengths in nats squared, with in-flight games counted as played, shape (..., n, n)."""
        self._refit()
        if self._covariance is None:
            self._covariance = self._inverse(self._games + self._under_way / 2)
        return self._covariance

    @property
    def prior_sd(self) -> Floats:
        """Width of the prior in Elo, of each design."""
        return np.sqrt(self._variance) * ELO_PER_NAT

    def add(self, wins: Floats, games: Floats) -> None:
        """Adds results.

        Args:
            wins: sum of the scores of the row policy on the earlier seat against the column policy, shape (..., n, n).
            games: number of these games, shape (..., n, n).
        """
        self._wins += wins
        self._games += games
        self._since_prior += float(games.sum()) / max(1, self._variance.size)
        self._is_fitted = False

    def enter(self, games: Floats) -> None:
        """Adds in-flight games, or removes them if negative.

        Args:
            games: number of games of every pair over both seat orders: symmetric, shape (..., n, n).
        """
        self._under_way += games
        self._covariance = None

    def gains(self) -> Floats:
        """Returns the reduction of the criterion by games of each pair, shape (..., n, n), 0 on the diagonal."""
        s = self.covariance
        v, w = self._pairs()
        z2 = self._differences() ** 2 / v
        a = 1 / ((1 + z2) ** 2 * v)
        index = np.arange(s.shape[-1])
        a[..., index, index] = 0.0
        laplacian = -a
        laplacian[..., index, index] = a.sum(axis=-1)
        gain = w / (1 + w * v) * _variances(s @ laplacian @ s)
        gain[..., index, index] = 0.0
        return gain

    def even_gains(self) -> Floats:
        """Returns the D-optimal gain of each pair for equal policies, based on games without their results, shape (..., n, n)."""
        games = self._games + self._under_way / 2
        curvature = information(games / 4, seat_term=False)[..., :-1, :-1]
        index = np.arange(curvature.shape[-1])
        curvature[..., index, index] += (ELO_PER_NAT / DEFAULT_PRIOR_SD) ** 2
        gain: Floats = np.log1p(self._meetings / 4 * _variances(np.linalg.inv(curvature).astype(np.float64)))
        gain[..., index, index] = 0.0
        return gain

    def noise_share(self) -> Floats:
        """Returns the part of the spread of the strengths that can be noise, 0 to 1, from finished games only."""
        self._refit()
        if self._noise_share is None:
            x, covariance = self._x[..., :-1], self._inverse(self._games)
            size = x.shape[-1]
            noise = np.trace(covariance, axis1=-2, axis2=-1) - covariance.sum(axis=(-2, -1)) / size
            self._noise_share = noise / (noise + size * x.var(axis=-1))
        return self._noise_share

    def draw(self) -> Floats:
        """Returns the gains for the next choice, by a criterion drawn at random, shape (..., n, n): symmetric, without ties."""
        is_even = self._rng.random(self._variance.shape) < self.noise_share()
        noise = np.triu(self._rng.random(self._wins.shape), 1)
        if is_even.all():
            gain = self.even_gains()
        elif is_even.any():
            gain = np.where(is_even[..., None, None], self.even_gains(), self.gains())
        else:
            gain = self.gains()
        return gain * (1 + _TIE * (noise + np.swapaxes(noise, -1, -2)))

    def _differences(self) -> Floats:
        x = self.strengths
        return x[..., :, None] - x[..., None, :]

    def _pairs(self) -> tuple[Floats, Floats]:
        """Returns the variance of the difference (1 on the diagonal) and the information of the games of each pair."""
        v = _variances(self.covariance)
        index = np.arange(v.shape[-1])
        v[..., index, index] = 1.0
        p = probability(differences(self._x))
        w = p * (1 - p)
        return v, (w + np.swapaxes(w, -1, -2)) * (self._meetings / 2)

    def _refit(self) -> None:
        if self._is_fitted:
            return
        self._is_fitted, self._covariance, self._noise_share = True, None, None
        self._newton()
        if self._since_prior >= self._refit_prior:
            self._since_prior = 0.0
            for _ in range(_PRIOR_STEPS):
                self._variance = self._fitted_variance()
                self._newton()

    def _fitted_variance(self) -> Floats:
        """Returns the next prior variance: the sum of squares over the effective number of strengths determined by the data."""
        x = self._x[..., :-1]
        size, trace = x.shape[-1], np.trace(self._inverse(self._games), axis1=-2, axis2=-1)
        determined = size - trace / self._variance  # the variance of the common shift equals the prior's
        variance = size * x.var(axis=-1) / np.maximum(determined, _LEAST_DETERMINED)
        return np.maximum(variance, (_LEAST_PRIOR_SD / ELO_PER_NAT) ** 2)

    def _newton(self) -> None:
        """Moves to the posterior mode by damped Newton steps, which converge globally (Sun and Tran-Dinh 2019)."""
        for _ in range(_STEPS):
            residual = self._wins - self._games * probability(differences(self._x))
            rows, columns = residual.sum(axis=-1), residual.sum(axis=-2)
            seat = rows.sum(axis=-1) if self._seat_term else np.zeros(rows.shape[:-1])
            gradient = np.concatenate((rows - columns, seat[..., None]), axis=-1) - self._precision() * self._x
            step = np.linalg.solve(self._curvature(self._games), gradient[..., None])[..., 0]
            change = np.ptp(step[..., :-1], axis=-1) + np.abs(step[..., -1])
            self._x = self._x + step * damping(change)[..., None]
            if change.max() < _SMALL:
                return
        raise ArithmeticError(
            f"the strengths did not converge: a step of {change.max():g} is left after {_STEPS} steps"
        )

    def _precision(self) -> Floats:
        """Returns the inverse variances of the priors, shape (..., n + 1)."""
        precision = np.empty(self._x.shape)
        precision[..., :-1] = 1 / self._variance[..., None]
        precision[..., -1] = (ELO_PER_NAT / DEFAULT_PRIOR_SD) ** 2
        return precision

    def _curvature(self, games: Floats) -> Floats:
        """Returns the negative Hessian of the log posterior of strengths and seat, shape (..., n + 1, n + 1)."""
        p = probability(differences(self._x))
        curvature = information(games * p * (1 - p), seat_term=self._seat_term)
        index = np.arange(curvature.shape[-1])
        curvature[..., index, index] += self._precision()
        return curvature

    def _inverse(self, games: Floats) -> Floats:
        return np.linalg.inv(self._curvature(games))[..., :-1, :-1].astype(np.float64)


def _variances(matrix: Floats) -> Floats:
    """Returns ``u' matrix u`` of each pair, ``u`` being +1 and -1 at the two, shape (..., n, n)."""
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    variances: Floats = diagonal[..., :, None] + diagonal[..., None, :] - 2 * matrix
    return variances
