"""What may be said of each policy: its rating with an interval that holds, its possible ranks, and what the data leave open."""

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t

from rating.statistics.bradley_terry.caveats import caveats
from rating.statistics.bradley_terry.comparisons import Comparisons, Floats, totals
from rating.statistics.bradley_terry.errors import clustered, dispersed, dispersion, width_error
from rating.statistics.bradley_terry.fitting import BradleyTerryFit, fit
from rating.statistics.bradley_terry.links import Links, links_of
from rating.statistics.bradley_terry.model import MEAN_RATING, BradleyTerryOptions
from rating.statistics.estimates import Z_95

_Z_ONE_SIDED = NormalDist().inv_cdf(0.95)


@dataclass(frozen=True)
class Standing:
    """A policy.

    Attributes:
        policy: its name.
        rating: in Elo.
        low: lower end of its 95 % interval; ``None`` if results do not bound it below: it has not won against the linked
            policies, nor against anybody who has.
        high: upper end; ``None`` if results do not bound it above (it is unbeaten). An interval with one end is one-sided: it
            holds the truth with 95 % as well.
        best_rank: the best rank that the results leave it, from 1: one more than the number of policies surely above it. One is
            surely above another if the 95 % interval of their difference says so. That holds for each pair alone: among many
            pairs of equals about one in twenty is told apart by chance.
        worst_rank: the worst: the number of policies less those that it is surely above.
        games: results it took part in.
        is_linked: whether it belongs to the largest group of which each has beaten or tied every other through a chain; the
            distance of any other from that group is the prior's.
        is_anchor: whether it is one of those whose mean rating is 1000: the linked ones that have not played far less than the
            busiest one.
    """

    policy: str
    rating: float
    low: float | None
    high: float | None
    best_rank: int
    worst_rank: int
    games: int
    is_linked: bool
    is_anchor: bool = True


@dataclass(frozen=True, eq=False)
class Standings:
    """All policies.

    Attributes:
        rows: best first, equals by name.
        fitted: the fit that they are made from, with the ratings and errors of the rows and the covariance that goes with them.
        dispersion: factor on the variance of the model, for results that scatter less (ties) or more (alike deals) than the model
            says; 1 where it is not known.
        notes: what the data do not establish, in plain words; empty if nothing is to be said.
    """

    rows: tuple[Standing, ...]
    fitted: BradleyTerryFit
    dispersion: float
    notes: tuple[str, ...]


def standings(comparisons: Comparisons, options: BradleyTerryOptions | None = None) -> Standings:
    """Fits ratings and says what may be said of them.

    The error of a linked policy is the wider of two: that of the model, its data part times the dispersion, and the one clustered
    by deal, as Student's t has it for few deals. The error of any other is the model's.

    Args:
        comparisons: of one policy or more.
        options: what is fitted; by default with a prior as wide as the pool.
    """
    options = options or BradleyTerryOptions(prior_sd="fitted")
    fitted = fit(comparisons, options)
    links = links_of(*totals(comparisons, fitted.options.ties))
    among = comparisons.select(links.linked[comparisons.first] & links.linked[comparisons.second])
    factor = dispersion(fitted, among) if len(among.score) else None
    robust = clustered(fitted, comparisons) if factor is not None else None
    extra = width_error(fitted, comparisons) if options.prior_sd == "fitted" else np.zeros_like(fitted.covariance)
    fitted = _centred(fitted, comparisons, links, factor, robust, extra)
    above = _surely_above(fitted, links)
    one_sided = links.bounded_below != links.bounded_above
    reach = np.where(one_sided, _Z_ONE_SIDED, Z_95) * fitted.errors
    order = sorted(range(len(fitted.policies)), key=lambda index: (-round(float(fitted.ratings[index]), 6), index))
    rows = tuple(
        Standing(
            fitted.policies[index],
            float(fitted.ratings[index]),
            float(fitted.ratings[index] - reach[index]) if links.bounded_below[index] else None,
            float(fitted.ratings[index] + reach[index]) if links.bounded_above[index] else None,
            1 + int(above[:, index].sum()),
            len(order) - int(above[index].sum()),
            int(((comparisons.first == index) | (comparisons.second == index)).sum()),
            bool(links.linked[index]),
            bool(links.anchors[index]),
        )
        for index in order
    )
    notes = caveats(fitted, comparisons, links, is_clustered=robust is not None)
    return Standings(rows, fitted, 1.0 if factor is None else factor, notes)


def _centred(
    fitted: BradleyTerryFit,
    comparisons: Comparisons,
    links: Links,
    factor: float | None,
    robust: BradleyTerryFit | None,
    extra: Floats,
) -> BradleyTerryFit:
    """Returns the fit with the mean of the anchors fixed, and errors that hold."""
    plain = _about(fitted.covariance + extra, links.anchors)
    wide = plain if factor is None else _about(dispersed(fitted, comparisons, factor) + extra, links.anchors)
    # Few deals leave the scatter between them uncertain: what Student's t is wider than the normal distribution.
    widening = 1.0 if robust is None else float(student_t.ppf(0.975, robust.clusters - 1)) / Z_95
    shape = plain if robust is None else widening**2 * _about(robust.covariance + extra, links.anchors)
    errors = np.where(links.linked, np.maximum(_errors(wide), _errors(shape)), _errors(plain))
    stretch = np.divide(errors, _errors(shape), out=np.ones_like(errors), where=_errors(shape) > 0)
    ratings = fitted.ratings - fitted.ratings[links.anchors].mean() + MEAN_RATING
    seat_error = max(fitted.seat_error, robust.seat_error) if robust else fitted.seat_error
    return replace(
        fitted,
        ratings=ratings,
        covariance=shape * np.outer(stretch, stretch),
        seat_error=seat_error,
        clusters=robust.clusters if robust else 0,
    )


def _about(covariance: Floats, anchors: NDArray[np.bool_]) -> Floats:
    """Returns the covariance of ratings less the mean of some of them."""
    mean = anchors / anchors.sum()
    across = covariance @ mean
    result: Floats = covariance - across[:, None] - across[None, :] + mean @ across
    return result


def _errors(covariance: Floats) -> Floats:
    return np.sqrt(np.clip(np.diag(covariance), 0, None))


def _surely_above(fitted: BradleyTerryFit, links: Links) -> NDArray[np.bool_]:
    """Returns whether the row's policy is surely above the column's, shape (n, n): never where no result says anything of it."""
    variance = np.diag(fitted.covariance)
    error = np.sqrt(np.clip(variance[:, None] + variance - 2 * fitted.covariance, 0, None))
    return (fitted.ratings[:, None] - fitted.ratings - Z_95 * error > 0) & links.reaches
