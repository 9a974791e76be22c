"""Bootstrap of ratings: intervals without assumptions about their shape."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from rating.stats.bradley_terry.comparisons import Comparisons, weights
from rating.stats.bradley_terry.links import is_connected
from rating.stats.bradley_terry.model import (
    DEFAULT_PRIOR_SD,
    ELO_PER_NAT,
    MEAN_RATING,
    BradleyTerryOptions,
    fit,
    maximise,
    to_ratings,
)
from rating.stats.estimates import Floats


def bootstrap(
    comparisons: Comparisons,
    options: BradleyTerryOptions | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
    by_cluster: bool = True,
) -> Floats:
    """Returns ratings fitted to resampled matches, shape (resamples, n), for percentile intervals.

    Args:
        comparisons: the fitted results.
        options: as for ``fit``; without a prior, the default one is used for the resamples that need one.
        resamples: number of resamples.
        seed: seed of the resampling.
        by_cluster: whether to draw whole clusters; ``False`` draws single results, which is much faster but only valid if they
            are independent.
    """
    fitted = fit(comparisons, options)
    options, size = fitted.options, len(comparisons.policies)
    if options.ties == "drop":
        comparisons = comparisons.select(comparisons.score != 0.5)
    # Identical results are one kind; a resample is a count of each kind.
    scores, score = np.unique(comparisons.score, return_inverse=True)
    weighing, weight = np.unique(weights(comparisons), return_inverse=True)
    cell = comparisons.first * size + comparisons.second
    kinds, kind, counts = np.unique(
        (cell * len(scores) + score) * len(weighing) + weight, return_inverse=True, return_counts=True
    )
    cells, scored, weighed = np.unravel_index(kinds, (size * size, len(scores), len(weighing)))
    games = sparse.coo_matrix((weighing[weighed], (cells, range(len(kinds)))), (size * size, len(kinds))).tocsr()
    wins = games.multiply(scores[scored][None, :]).tocsr()
    rng = np.random.default_rng(seed)
    if by_cluster:
        names, cluster = np.unique(comparisons.cluster, return_inverse=True)
        members = sparse.coo_matrix((np.ones(len(kind)), (kind, cluster)), (len(kinds), len(names))).tocsr()
        wins, games, share = wins @ members, games @ members, np.full(len(names), 1 / max(1, len(names)))
        units = len(names)
    else:
        units, share = len(kind), counts / max(1, len(kind))
    start = np.append(fitted.ratings - MEAN_RATING, fitted.seat_advantage) / ELO_PER_NAT
    ratings = np.empty((resamples, size))
    chunk = max(1, 500_000 // max(size * size, len(share)))
    for begin in range(0, resamples, chunk):
        drawn = rng.multinomial(units, share, size=min(chunk, resamples - begin)).astype(float).T
        won, played = ((part @ drawn).T.reshape(-1, size, size) for part in (wins, games))
        ratings[begin : begin + chunk] = to_ratings(_maximise_each(won, played, options, start)[:, :-1])
    return ratings


def _maximise_each(wins: Floats, games: Floats, options: BradleyTerryOptions, start: Floats) -> Floats:
    """Fits each of r resamples, shape (r, n, n), with a prior if it needs one."""
    x = np.empty((len(wins), len(start)))
    prior = replace(options, prior_sd=options.prior_sd or DEFAULT_PRIOR_SD)
    alone = [options.prior_sd is None and is_connected(*pair) for pair in zip(wins, games, strict=True)]
    for mask, used in ((np.array(alone), options), (~np.array(alone), prior)):
        if mask.any():
            x[mask] = maximise(wins[mask], games[mask], used, start)
    return x
