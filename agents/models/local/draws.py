"""Sampling by scores."""

import math
from collections.abc import Sequence

import numpy as np


def draw(scores: Sequence[float], temperature: float, rng: np.random.Generator) -> int:
    """Returns the index of the highest score at temperature 0, else an index drawn from the softmax of the scores."""
    best = max(scores)
    if temperature == 0:
        return scores.index(best)
    weights = [math.exp((score - best) / temperature) for score in scores]
    mark = rng.random() * sum(weights)
    for index, weight in enumerate(weights):
        mark -= weight
        if mark < 0:
            return index
    return scores.index(best)
