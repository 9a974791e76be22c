"""How much a trait of a side adds to a judge's score of it, beyond the view that the other judges have of the same item.

Linear regression of the judge's score on the mean score by the other judges, the trait and the position, with HC3 errors. The
mean of few judges measures their view with error. Uncorrected, the trait would stand in for the unmeasured part, and a judge
who is more accurate than the others would seem to favour good sides. So the square of the mean is replaced by the mean product
over pairs of other judges, which estimates the square of their view without bias.

Sources: Fuller, "Measurement Error Models" (1987), for the corrected moments; MacKinnon and White, "Some
heteroskedasticity-consistent covariance matrix estimators with improved finite sample properties" (1985), for HC3.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from rating.statistics.estimates import Estimate, with_interval

FEWEST_ITEMS = 20
"""Items in which one side has the trait below which the effect is not tested."""


class OtherJudgesView(NamedTuple):
    """The other judges' view of an item, from scores of its side A on the scale -0.5 to 0.5.

    Attributes:
        mean: mean score.
        product: mean product of the scores of two different judges.
    """

    mean: float
    product: float


class Beside(NamedTuple):
    """A judge's score beside the others' view.

    Attributes:
        score: of side A, -0.5 to 0.5.
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
        p: of the test that it adds nothing.
    """

    effect: Estimate
    p: float


def beyond_others(rows: Sequence[Beside]) -> Beyond | None:
    """Returns the effect of the trait with one judge.

    Args:
        rows: one per item.

    Returns:
        ``None`` with fewer than ``FEWEST_ITEMS`` items with the trait, where the others share no view, or where nothing varies.
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
    if error < 1e-9:  # nothing varies, which is no certainty
        return None
    value, freedom = float(weights[1]), n - 1
    half = float(student.ppf(0.975, freedom)) * error
    p = float(2 * student.sf(abs(value) / error, freedom))
    value = min(max(value, -1.0), 1.0)
    return Beyond(with_interval(value, value - half, value + half, n, n, (-1, 1)), p)
