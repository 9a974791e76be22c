"""How a mean grew with the matches, for ways of comparing without a rating that goes on from match to match."""

import math
from collections.abc import Iterable

from rating.schemes.figures import Figure, Trajectories


def running_means(values: Iterable[tuple[int, str, float]], label: str) -> list[Figure]:
    """Returns the mean of every policy after each of its matches; nothing without a match.

    Beside it stands its standard error as if matches were independent: the figure shows how a mean settles, the table how well
    it is known.

    Args:
        values: number of the match, policy and value, in the order of the matches.
        label: what is averaged.
    """
    history: dict[str, list[tuple[int, float, float]]] = {}
    moments: dict[str, tuple[int, float, float]] = {}
    for number, policy, value in values:
        count, mean, squares = moments.get(policy, (0, 0.0, 0.0))
        # Welford's recurrence: differences from the mean so far keep their digits.
        count, lead = count + 1, value - mean
        mean += lead / count
        squares += lead * (value - mean)
        moments[policy] = count, mean, squares
        error = math.sqrt(squares / (count - 1) / count) if count > 1 else 0.0
        history.setdefault(policy, []).append((number, mean, error))
    shown = {policy: history[policy] for policy in sorted(history)}
    return [Trajectories(shown, f"{label} ± its standard error")] if shown else []
