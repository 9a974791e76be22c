"""Running means, for schemes without an incremental rating."""

import math
from collections.abc import Iterable

from rating.schemes.figures import Figure, Trajectories


def running_means(values: Iterable[tuple[int, str, float]], label: str) -> list[Figure]:
    """Returns the mean of every policy after each of its matches; an empty list without a match.

    The standard error treats matches as independent. The figure shows the convergence of a mean; its uncertainty is in the table.

    Args:
        values: match number, policy and value, in match order.
        label: name of the averaged value.
    """
    history: dict[str, list[tuple[int, float, float]]] = {}
    moments: dict[str, tuple[int, float, float]] = {}
    for number, policy, value in values:
        count, mean, squares = moments.get(policy, (0, 0.0, 0.0))
        # Welford's recurrence is numerically stable.
        count, lead = count + 1, value - mean
        mean += lead / count
        squares += lead * (value - mean)
        moments[policy] = count, mean, squares
        error = math.sqrt(squares / (count - 1) / count) if count > 1 else 0.0
        history.setdefault(policy, []).append((number, mean, error))
    shown = {policy: history[policy] for policy in sorted(history)}
    return [Trajectories(shown, f"{label} ± its standard error")] if shown else []
