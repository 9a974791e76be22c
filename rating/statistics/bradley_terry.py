"""Bradley-Terry ratings: one fit to all matches, whatever their order.

Model (Bradley and Terry 1952): the first seat beats the second with probability ``1 / (1 + exp(-(x_i - x_j + s)))``, where
``x`` are the strengths and ``s`` is the advantage of the first seat. Strengths have a Gaussian prior, so that an unbeaten
policy has a finite rating. Ratings are strengths on the Elo scale: base 10, scale 400, mean 1000 (Auto-Arena, arXiv
2405.20267).

The fit sees the matches only as counts of integers, so that any order of the log gives the same bytes.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from rating.records.outcome import Outcome
from rating.statistics.estimates import Z_95
from rating.statistics.results import finished

ELO_PER_NAT = 400 / math.log(10)
MEAN_RATING = 1000.0
DEFAULT_PRIOR_SD = 418.0
"""TrueSkill's initial uncertainty on the Elo scale."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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
class Comparisons:
    """Results of pairs of seats, one entry a pair.

    Attributes:
        policies: names, sorted.
        first: index of the policy on the earlier seat, shape (m,).
        second: index of the policy on the later seat, shape (m,).
        result: 2 if the first won, 1 for a tie, 0 if the second won, shape (m,).
        cluster: number of the deal, shape (m,): entries that share it are not independent.
    """

    policies: tuple[str, ...]
    first: Integers
    second: Integers
    result: Integers
    cluster: Integers


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


def compare(outcomes: Iterable[Outcome]) -> Comparisons:
    """Turns finished matches into results of pairs of seats.

    A match of more than two players counts as all pairs of its rank order by reward; equal rewards are a tie. Pairs of a
    policy with itself are left out. The cluster of a pair is the seed of its match, so all pairs of a match and all
    matches of one deal are in one cluster.

    Args:
        outcomes: of one environment, in any order; void ones are skipped.
    """
    pairs = [
        (a.policy, b.policy, 1 + (a.reward > b.reward) - (a.reward < b.reward), outcome.seed)
        for outcome in finished(outcomes)
        for index, a in enumerate(outcome.seats)
        for b in outcome.seats[index + 1 :]
        if a.policy != b.policy
    ]
    policies = tuple(sorted({name for pair in pairs for name in pair[:2]}))
    index_of = {name: index for index, name in enumerate(policies)}
    cluster_of = {seed: index for index, seed in enumerate(sorted({pair[3] for pair in pairs}))}
    columns = [(index_of[first], index_of[second], result, cluster_of[seed]) for first, second, result, seed in pairs]
    first, second, result, cluster = np.array(columns, dtype=np.int64).reshape(-1, 4).T
    return Comparisons(policies, first, second, result, cluster)


def count(comparisons: Comparisons) -> Integers:
    """Returns how often each result happened, shape (n, n, 3): first seat, second seat, result 0, 1 or 2."""
    size = len(comparisons.policies)
    cells = (comparisons.first * size + comparisons.second) * 3 + comparisons.result
    return np.bincount(cells, minlength=3 * size * size).reshape(size, size, 3)


def fit(comparisons: Comparisons | Iterable[Outcome], options: BradleyTerryOptions | None = None) -> BradleyTerryFit:
    """Fits ratings to matches.

    Args:
        comparisons: or the outcomes they are made from.
        options: what is fitted.
    """
    if not isinstance(comparisons, Comparisons):
        comparisons = compare(comparisons)
    return fit_counts(comparisons.policies, count(comparisons), options)


def fit_counts(
    policies: Sequence[str], counts: Integers, options: BradleyTerryOptions | None = None
) -> BradleyTerryFit:
    """Fits ratings to counts of results.

    Args:
        policies: n names.
        counts: as ``count`` returns them, shape (n, n, 3).
        options: what is fitted.

    Raises:
        ValueError: if there is no policy or the counts have another shape.
        ArithmeticError: if the fit does not converge.
    """
    options = options or BradleyTerryOptions()
    size = len(policies)
    if not size or np.shape(counts) != (size, size, 3):
        raise ValueError(f"counts: expected shape ({size}, {size}, 3) for one policy or more, got {np.shape(counts)}")
    wins, games = _wins_and_games(counts, options)
    connected = _is_connected(wins, games)
    regularised = options.prior_sd is None and not connected
    used = replace(options, prior_sd=DEFAULT_PRIOR_SD) if regularised else options
    x = _maximise(wins, games, used, np.zeros(size + 1))
    inverse = _inverse_curvature(x, games, used)
    covariance, seat_error = _covariance(inverse, used)
    return BradleyTerryFit(
        tuple(policies),
        _to_ratings(x[:-1]),
        covariance,
        float(x[-1]) * ELO_PER_NAT,
        seat_error,
        int(games.sum()),
        0,
        connected,
        regularised,
        used,
    )


def clustered(fitted: BradleyTerryFit, comparisons: Comparisons) -> BradleyTerryFit | None:
    """Returns the fit with standard errors that hold whatever the dependence within a cluster is.

    The sandwich estimator: ``H^-1 (sum over clusters of u u') H^-1`` with ``u`` the gradient of a cluster's log
    likelihood, times ``C / (C - k)`` for C clusters and k parameters. It is too optimistic with few clusters, and about a
    policy that has (nearly) always won or lost.

    Args:
        fitted: fit of the same comparisons.
        comparisons: what was fitted.

    Returns:
        ``None`` if there are not more clusters than parameters.
    """
    options, size = fitted.options, len(fitted.policies)
    x = np.append((fitted.ratings - MEAN_RATING), fitted.seat_advantage) / ELO_PER_NAT
    used = np.ones(len(comparisons.result), dtype=bool)
    if options.ties == "drop":
        used = comparisons.result != 1
    # Results are counted by cluster and cell first: sums of integers do not depend on the order of the log.
    names, cluster = np.unique(comparisons.cluster[used], return_inverse=True)
    parameters = size - 1 + options.seat_term
    if len(names) <= parameters:
        return None
    cell = (comparisons.first[used] * size + comparisons.second[used]) * 3 + comparisons.result[used]
    keys, repeats = np.unique(cluster * (3 * size * size) + cell, return_counts=True)
    cluster, cell = np.divmod(keys, 3 * size * size)
    first, second, result = np.unravel_index(cell, (size, size, 3))
    residual = repeats * (result / 2 - _probability(x[first] - x[second] + x[-1]))
    seat_residual = residual if options.seat_term else np.zeros_like(residual)
    gradients = sparse.coo_matrix(
        (
            np.concatenate((residual, -residual, seat_residual)),
            (np.tile(cluster, 3), np.concatenate((first, second, np.full_like(first, size)))),
        ),
        shape=(len(names), size + 1),
    ).tocsr()
    meat = (gradients.T @ gradients).toarray() * (len(names) / (len(names) - parameters))
    _, games = _wins_and_games(count(comparisons), options)
    inverse = _inverse_curvature(x, games, options)
    covariance, seat_error = _covariance(inverse @ meat @ inverse, options)
    return replace(fitted, covariance=covariance, seat_error=seat_error, clusters=len(names))


def bootstrap(
    comparisons: Comparisons,
    options: BradleyTerryOptions | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
    by_cluster: bool = True,
) -> Floats:
    """Returns ratings fitted to resampled matches, shape (resamples, n): their percentiles are intervals.

    Args:
        comparisons: what is fitted.
        options: as for ``fit``; without a prior, the default one is used for the resamples that need one.
        resamples: number of resamples.
        seed: of the resampling.
        by_cluster: draw whole clusters; ``False`` draws single results, which is much faster and right only if they are
            independent.
    """
    counts = count(comparisons)
    fitted = fit_counts(comparisons.policies, counts, options)
    options, size = fitted.options, len(comparisons.policies)
    cells = counts.reshape(-1)
    rng = np.random.default_rng(seed)
    if by_cluster:
        names, cluster = np.unique(comparisons.cluster, return_inverse=True)
        cell = (comparisons.first * size + comparisons.second) * 3 + comparisons.result
        members = sparse.coo_matrix((np.ones_like(cell), (cell, cluster)), (len(cells), len(names))).tocsr()
        units, share = len(names), np.full(len(names), 1 / max(1, len(names)))
    else:
        units, share = int(cells.sum()), cells / max(1, cells.sum())
    start = np.append(fitted.ratings - MEAN_RATING, fitted.seat_advantage) / ELO_PER_NAT
    ratings = np.empty((resamples, size))
    chunk = max(1, 2_000_000 // max(len(cells), len(share)))
    for begin in range(0, resamples, chunk):
        drawn = rng.multinomial(units, share, size=min(chunk, resamples - begin))
        if by_cluster:
            drawn = (members @ drawn.T).T
        wins, games = _wins_and_games(drawn.reshape(-1, size, size, 3), options)
        ratings[begin : begin + chunk] = _to_ratings(_maximise_each(wins, games, options, start)[:, :-1])
    return ratings


def expected_order(fitted: BradleyTerryFit, *, draws: int = 200, seed: int = 0) -> float:
    """Returns the expected Spearman correlation of the fitted order with the true one.

    The mean over draws from the posterior (Laplace approximation) of the rank correlation of the drawn ratings with the
    fitted ones: near 1 when the order of the policies is known.

    Args:
        fitted: a fit of two policies or more, not ``clustered``.
        draws: number of draws.
        seed: of the draws.
    """
    size = len(fitted.policies)
    if size < 2:
        raise ValueError(f"expected two policies or more, got {size}")
    values, vectors = np.linalg.eigh(fitted.covariance)
    noise = np.random.default_rng(seed).standard_normal((draws, size))
    drawn = fitted.ratings + (noise * np.sqrt(np.clip(values, 0, None))) @ vectors.T
    distance = _ranks(drawn) - _ranks(fitted.ratings)
    return float(np.mean(1 - 6 * (distance**2).sum(axis=1) / (size * (size**2 - 1))))


def _ranks(values: Floats) -> Integers:
    return np.argsort(np.argsort(values, axis=-1), axis=-1)


def _wins_and_games(counts: Integers, options: BradleyTerryOptions) -> tuple[Floats, Floats]:
    """Returns score of the first seat and number of games, shape (..., n, n)."""
    lost, tied, won = counts[..., 0], counts[..., 1], counts[..., 2]
    if options.ties == "drop":
        return won.astype(float), (won + lost).astype(float)
    return won + 0.5 * tied, (won + tied + lost).astype(float)


def _is_connected(wins: Floats, games: Floats) -> bool:
    """Says whether the graph of wins and ties is strongly connected."""
    beats = (wins > 0) | (games - wins > 0).T
    return bool(connected_components(sparse.csr_matrix(beats), connection="strong", return_labels=False) == 1)


def _probability(d: ArrayLike) -> Floats:
    """Returns the logistic function, without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * np.asarray(d)))


def _maximise_each(wins: Floats, games: Floats, options: BradleyTerryOptions, start: Floats) -> Floats:
    """Maximises shape (r, n, n), with a prior for those that need one."""
    x = np.empty((len(wins), len(start)))
    prior = replace(options, prior_sd=options.prior_sd or DEFAULT_PRIOR_SD)
    alone = [options.prior_sd is None and _is_connected(*pair) for pair in zip(wins, games, strict=True)]
    for mask, used in ((np.array(alone), options), (~np.array(alone), prior)):
        if mask.any():
            x[mask] = _maximise(wins[mask], games[mask], used, start)
    return x


def _maximise(wins: Floats, games: Floats, options: BradleyTerryOptions, start: Floats) -> Floats:
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
        residual = wins - games * _probability(d)
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
    p = _probability(d)
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


def _inverse_curvature(x: Floats, games: Floats, options: BradleyTerryOptions) -> Floats:
    return np.linalg.inv(_curvature(x, games, options)).astype(np.float64)


def _covariance(inverse: Floats, options: BradleyTerryOptions) -> tuple[Floats, float]:
    """Returns the covariance of the centred ratings in Elo squared, and the standard error of the seat advantage."""
    strengths = inverse[:-1, :-1]
    centred = strengths - strengths.mean(axis=0) - strengths.mean(axis=1, keepdims=True) + strengths.mean()
    seat = math.sqrt(inverse[-1, -1]) if options.seat_term else 0.0
    return centred * ELO_PER_NAT**2, seat * ELO_PER_NAT


def _to_ratings(strengths: Floats) -> Floats:
    return MEAN_RATING + (strengths - strengths.mean(axis=-1, keepdims=True)) * ELO_PER_NAT
