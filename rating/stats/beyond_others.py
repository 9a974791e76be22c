"""Effect of a trait of a side on a judge's score, given the other judges' view of the same item.

Linear regression of the judge's score on the mean score by the other judges, the trait and the position, with HC3 errors. The
mean of few judges measures their view with error. Uncorrected, the trait would absorb the unmeasured part, and a judge more
accurate than the others would seem to favour good sides. So the square of the mean is replaced by the mean product over pairs
of other judges, an unbiased estimate of the squared view.

Sources: Fuller, "Measurement Error Models" (1987), for the corrected moments; MacKinnon and White, "Some
heteroskedasticity-consistent covariance matrix estimators with improved finite sample properties" (1985), for HC3.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from rating.stats.estimates import Estimate, with_interval

FEWEST_ITEMS = 20
"""Minimum number of items with the trait on one side for a test."""


class OtherJudgesView(NamedTuple):
    """The other judges' view of an item, from scores of its side A on the scale -0.5 to 0.5.

    Attributes:
        mean: mean score.
        product: mean product of the scores of two different judges.
    """

    mean: float
    product: float


class Beside(NamedTuple):
    """A judge's score and the other judges' view.

    Attributes:
        score: score of side A, -0.5 to 0.5.
        position: 0.5 if A is shown first, -0.5 if second, 0 if both orders were judged.
        trait: 1 if only A has the trait, -1 if only B has it, otherwise 0.
        others: the view of the other judges.
    """

    score: float
    position: float
    trait: int
    others: OtherJudgesView


class Beyond(NamedTuple):
    """An effect of the trait.

    Attributes:
        effect: points that the trait adds to the score of a side, -1 to 1.
        p: p-value of the test of no effect.
    """

    effect: Estimate
    p: float


def beyond_others(rows: Sequence[Beside]) -> Beyond | None:
    """Returns the effect of the trait on the scores of one judge.

    Args:
        rows: one per item.

    Returns:
        ``None`` for fewer than ``FEWEST_ITEMS`` items with the trait, without a common view of the others, or without
        variation.
    """
    n = sum(row.trait != 0 for row in rows)
    if n < FEWEST_ITEMS:
        return None
    score, position, trait, view, product = np.array([(*row[:3], *row.others) for row in rows]).T
    if product.sum() <= 0:
        return None
    columns = [view, trait / 2] + ([position] if position.any() else [])
    data = np.stack(columns, axis=1)
    squares = data.T @ data
    corrected = squares.copy()
    corrected[0, 0] = product.sum()
    if np.linalg.matrix_rank(squares) < len(squares) or np.linalg.matrix_rank(corrected) < len(squares):
        return None
    solve = np.linalg.inv(corrected)
    weights = solve @ (data.T @ score)
    influence = data * (score - data @ weights)[:, None]
    influence[:, 0] += weights[0] * (view**2 - product)
    leverage = np.einsum("ij,jk,ik->i", data, np.linalg.inv(squares), data)
    if leverage.max() > 1 - 1e-9:
        return None
    influence /= (1 - leverage)[:, None]
    error = float(np.sqrt((solve @ (influence.T @ influence) @ solve)[1, 1]))
    if error < 1e-9:  # no variation: the error is unknown, not 0
        return None
    value, freedom = float(weights[1]), n - 1
    half = float(stdtrit(freedom, 0.975)) * error
    p = float(2 * stdtr(freedom, -abs(value) / error))
    value = min(max(value, -1.0), 1.0)
    return Beyond(with_interval(value, value - half, value + half, n, n, (-1, 1)), p)
