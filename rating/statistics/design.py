"""Which pair to play next, so that the order of the policies is known after the fewest games.

What is known is the Bradley-Terry posterior in nats: strengths ``x``, the advantage of the first seat, and their covariance ``S``
(Laplace approximation), under a Gaussian prior whose width is fitted to the pool (MacKay 1992). What is wanted is the order, so
a pair counts by how far it is from being told apart. With ``d`` the difference of two strengths, ``v`` its variance and
``z = d / sqrt(v)``, the criterion is the trace of ``L S``, i.e. the sum over all pairs of ``a v``, where
``a = 1 / (v (1 + z^2)^2)`` and ``L`` is the Laplacian of ``a``. Games between two have the information ``w = m p (1 - p)``,
summed over the seats they take, and reduce the criterion by ``w / (1 + w v) u' S L S u``, where ``u`` is +1 and -1 at the two:
the gain. Choosing by a linear function of the covariance is L-optimal design (Chaloner and Verdinelli 1995, "Bayesian
experimental design: a review", Statistical Science 10, section 2).

Choices by results select on noise: a policy with early luck looks settled, is left alone, and keeps its luck (Nie et al. 2018,
"Why adaptively collected data have negative bias and how to correct for it"). So a share of the choices ignores results and takes
the D-optimal pair of equal policies: the one whose games add most to the determinant of the precision. That share is the part of
the spread of the strengths that may be noise: the sum of their variances over that sum plus their sum of squares. It is 1 before
the first result, stays high among equals, and falls where policies separate.

Games under way count in the covariance, as if played, and not in the strengths: that needs no result.
"""

import numpy as np

from rating.statistics.bradley_terry import DEFAULT_PRIOR_SD, ELO_PER_NAT, Floats
from rating.statistics.bradley_terry.model import damping, differences, information, probability

_LEAST_PRIOR_SD = 10.0
"""In Elo: the width of equals is fitted as 0, from which it would not grow again."""

_LEAST_DETERMINED = 1e-3
"""Number of strengths that the data determine at least: no division by 0."""

_PRIOR_STEPS = 3
"""Steps of the fixed point of the prior's width at each fit of it."""

_TIE = 1e-6
"""Gains that differ relatively by less are equal: rounding, which differs between machines, decides nothing."""

_SMALL = 3e-5
"""Change of the last step: a step squares the error."""

_STEPS = 100


class Design:
    """What is known of a pool, and what games of each pair would add.

    Arrays may have leading axes, for independent designs side by side, as simulations need them.

    Args:
        size: number of policies n, 2 or more.
        meetings: games of a pair that is chosen, half of them with either on the earlier seat.
        seed: of ties, and of which choices ignore results.
        seat_term: whether the earlier seat may have an advantage.
        refit_prior: new results after which the prior's width is fitted again.
        shape: of the leading axes.
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
        """Covariance of the strengths in nats squared, games under way counted as played, shape (..., n, n)."""
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
            wins: sum of the scores of the row on the earlier seat against the column, shape (..., n, n).
            games: number of those games, shape (..., n, n).
        """
        self._wins += wins
        self._games += games
        self._since_prior += float(games.sum()) / max(1, self._variance.size)
        self._is_fitted = False

    def enter(self, games: Floats) -> None:
        """Takes games that are under way, or that are no longer if they are negative.

        Args:
            games: number of games of every pair, both seats together: symmetric, shape (..., n, n).
        """
        self._under_way += games
        self._covariance = None

    def gains(self) -> Floats:
        """Returns by how much the games of each pair reduce the criterion, shape (..., n, n), 0 on the diagonal."""
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
        """Returns the D-optimal criterion of policies that are equal, by who has met whom and no results, shape (..., n, n)."""
        games = self._games + self._under_way / 2
        curvature = information(games / 4, seat_term=False)[..., :-1, :-1]
        index = np.arange(curvature.shape[-1])
        curvature[..., index, index] += (ELO_PER_NAT / DEFAULT_PRIOR_SD) ** 2
        gain: Floats = np.log1p(self._meetings / 4 * _variances(np.linalg.inv(curvature).astype(np.float64)))
        gain[..., index, index] = 0.0
        return gain

    def noise_share(self) -> Floats:
        """Returns the part of the spread of the strengths that may be noise, 0 to 1; finished games alone count."""
        self._refit()
        if self._noise_share is None:
            x, covariance = self._x[..., :-1], self._inverse(self._games)
            size = x.shape[-1]
            noise = np.trace(covariance, axis1=-2, axis2=-1) - covariance.sum(axis=(-2, -1)) / size
            self._noise_share = noise / (noise + size * x.var(axis=-1))
        return self._noise_share

    def draw(self) -> Floats:
        """Returns the gains by the criterion drawn for the next choice, shape (..., n, n): symmetric, and no two alike."""
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
        """Returns variance of the difference and information of the games of each pair; 1 as the variance of none."""
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
        """Returns the next variance of the prior: the sum of squares over the number of strengths that the data determine."""
        x = self._x[..., :-1]
        size, trace = x.shape[-1], np.trace(self._inverse(self._games), axis1=-2, axis2=-1)
        determined = size - trace / self._variance  # the common shift's variance is the prior's
        variance = size * x.var(axis=-1) / np.maximum(determined, _LEAST_DETERMINED)
        return np.maximum(variance, (_LEAST_PRIOR_SD / ELO_PER_NAT) ** 2)

    def _newton(self) -> None:
        """Goes to the posterior mode by damped steps, which converge from anywhere (Sun and Tran-Dinh 2019)."""
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
