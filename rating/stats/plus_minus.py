"""Plus-minus: the contribution of each policy to a common result, adjusted for partners and deals.

Least squares: the result of a match is the sum of an effect of its deal and an effect of each team member. Unlike a mean over
matches, this corrects for better partners and easier deals.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from rating.stats.estimates import Estimate, with_interval

Floats = NDArray[np.float64]

_ROUNDING = 1e-9


class TeamResult(NamedTuple):
    """The common result of a team.

    Attributes:
        members: policy on each seat.
        value: their common result.
        deal: number of the deal; results of one deal have an effect in common.
    """

    members: tuple[str, ...]
    value: float
    deal: int


def plus_minus(results: Iterable[TeamResult]) -> dict[str, Estimate]:
    """Returns the effect of each policy on a seat, relative to the average policy.

    The variance is the jackknife over deals, with Student's quantile for their number: exact if every deal was played by the
    same teams, slightly conservative otherwise.

    Args:
        results: results of matches, in any order. Matches of a policy with itself count like others; leave them out to measure
            its effect on other policies.

    Returns:
        By policy, sorted, with its number of results as ``n``. A policy is missing if its effect is not identified, e.g. for
        two policies that only played with each other. The interval is left out for few deals (``with_interval``) or without
        variation.
    """
    ordered = sorted(results, key=lambda result: (result.deal, result.members, result.value))
    names = sorted({name for result in ordered for name in result.members})
    if not names:
        return {}
    deals, deal = np.unique([result.deal for result in ordered], return_inverse=True)
    index_of = {name: index for index, name in enumerate(names)}
    seats = np.zeros((len(ordered), len(names)))
    for row, result in enumerate(ordered):
        for name in result.members:
            seats[row, index_of[name]] += 1
    games = np.count_nonzero(seats, axis=0)
    seats, values = _less_deal_means(seats, deal), _less_deal_means(np.array([[r.value] for r in ordered]), deal)[:, 0]
    products = seats.T @ seats
    inverse = _inverse(products)
    effects = inverse @ (seats.T @ values)
    centre = np.eye(len(names)) - 1 / len(names)
    unknown = np.abs(centre - centre @ inverse @ products).max(axis=1) > 1e-6
    shifts = _jackknife(seats, values - seats @ effects, deal, products) @ centre.T
    telling = len(shifts)
    errors = np.sqrt((telling - 1) / telling * (shifts**2).sum(axis=0)) if telling > 1 else np.zeros(len(names))
    scale = np.abs(values).max(initial=0.0)
    found = {}
    for index, name in enumerate(names):
        if unknown[index]:
            continue
        value, half = float((centre @ effects)[index]), 0.0
        if errors[index] > _ROUNDING * scale:
            half = float(stdtrit(telling - 1, 0.975) * errors[index])
        n = int(games[index])
        found[name] = (
            with_interval(value, value - half, value + half, n, len(deals))
            if half
            else Estimate(value, None, None, n, len(deals))
        )
    return found


def _less_deal_means(columns: Floats, deal: NDArray[np.intp]) -> Floats:
    """Returns the columns minus their mean of each deal, which removes the effects of deals from a regression."""
    sums = np.zeros((deal.max() + 1, columns.shape[1]))
    np.add.at(sums, deal, columns)
    return columns - (sums / np.bincount(deal)[:, None])[deal]


def _inverse(products: Floats) -> Floats:
    """Returns the pseudo-inverse of a matrix of sums of products."""
    return np.linalg.pinv(products, rtol=_ROUNDING, hermitian=True).astype(np.float64)


def _jackknife(seats: Floats, residuals: Floats, deal: NDArray[np.intp], products: Floats) -> Floats:
    """Returns the change of the effects when each informative deal is left out, shape (deals, policies)."""
    shifts: list[Floats] = []
    for rows in np.split(np.arange(len(deal)), np.flatnonzero(np.diff(deal)) + 1):
        own = seats[rows]
        if np.abs(own).max() > _ROUNDING:
            shifts.append(_inverse(products - own.T @ own) @ (own.T @ residuals[rows]))
    return np.array(shifts).reshape(-1, seats.shape[1])
