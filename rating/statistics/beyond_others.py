"""What a trait of a side adds to a judge's score of it, beyond what the other judges of the same cases think of that side.

The opinion of others tells what a side is worth, but with errors: with the opinion as it is the trait would stand for the rest,
and judges who err less than the others would seem to favour sides that are good. So the others are two groups, and the opinion
of one of them is the instrument for that of the other one (two-stage least squares with robust errors and a constant for the
place). It is linear: judges who err less are surer of clear cases as well, which it finds in the opinion's weight.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from rating.statistics.estimates import Estimate, with_interval

_FEWEST_CASES = 20
"""Cases in which one side has the trait below which nothing is said."""


class Beside(NamedTuple):
    """A verdict beside those of others.

    Attributes:
        score: of the side shown first: 1, 0, or 0.5 for a tie.
        trait: which side has the trait: 1 the first one, -1 the second one, 0 neither or both.
        others: mean scores that two groups of other judges of the case give the first side; ``None`` if there are no two groups.
    """

    score: float
    trait: int
    others: tuple[float, float] | None


class Beyond(NamedTuple):
    """An effect of the trait.

    Attributes:
        effect: what the trait adds to the score of a side, -1 to 1.
        p: of the test that it adds nothing.
    """

    effect: Estimate
    p: float


def beyond_others(verdicts: Sequence[Beside]) -> Beyond | None:
    """Returns what the trait adds with this judge.

    Args:
        verdicts: of one judge, independent of each other.

    Returns:
        ``None`` without two groups of others, and where cases are few or all alike.
    """
    rows = [(one.score, one.trait / 2, *one.others) for one in verdicts if one.others is not None]
    n = sum(row[1] != 0 for row in rows)
    if n < _FEWEST_CASES:
        return None
    score, trait, opinion, instrument = np.array(rows).T
    explained = np.stack([np.ones_like(trait), opinion, trait], axis=1)
    explaining = np.stack([np.ones_like(trait), instrument, trait], axis=1)
    products = explaining.T @ explained
    if np.linalg.matrix_rank(products) < len(products):
        return None
    solve = np.linalg.inv(products)
    weights = solve @ (explaining.T @ score)
    residual = score - explained @ weights
    scaled = explaining * residual[:, None]
    free = len(rows) - len(weights)
    error = float(np.sqrt((solve @ (scaled.T @ scaled) @ solve.T)[-1, -1] * len(rows) / free))
    if error < 1e-9:  # nothing varies, which is no certainty
        return None
    value, half = float(np.clip(weights[-1], -1, 1)), float(student.ppf(0.975, free)) * error
    p = float(2 * student.sf(abs(value) / error, free))
    return Beyond(with_interval(value, value - half, value + half, n, n, (-1, 1)), p)
