"""Claims about many differences at once: none of them is wrong with a probability of at least 95 %.

Source: Romano and Wolf, Exact and approximate stepdown methods for multiple hypothesis testing (Journal of the American Statistical
Association 100, 2005), with the maximum of the statistics of all hypotheses that are not yet rejected.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEVEL = 0.05
"""Probability, at most, that any of the claims is wrong."""


def step_down(statistics: Floats, nulls: Floats, level: float = LEVEL) -> NDArray[np.bool_]:
    """Returns the hypotheses that are rejected, with the familywise error rate at the level.

    Args:
        statistics: absolute values of the test statistics of m hypotheses, shape (m,).
        nulls: draws of the same from their joint distribution if all hypotheses hold, shape (draws, m).
        level: familywise error rate, above 0 and below 1.

    Returns:
        Shape (m,).
    """
    rejected = np.zeros(len(statistics), dtype=bool)
    while not rejected.all():
        critical = np.quantile(nulls[:, ~rejected].max(axis=1), 1 - level, method="higher")
        found = ~rejected & (statistics > critical)
        if not found.any():
            break
        rejected |= found
    return rejected
