"""Redraws a player's unknowns of a finished round."""

from collections.abc import Sequence

import numpy as np


def redistributed(
    investments: Sequence[int], highest: Sequence[int], seat: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """Draws the others' investments with the same sum.

    Args:
        investments: of every player, in steps.
        highest: the largest investment of every player.
        seat: the player whose own investment stays.
        rng: redistributes uniformly between pairs of players; converges to a uniform distribution.
    """
    drawn = list(investments)
    others = [other for other in range(len(drawn)) if other != seat]
    left = sum(drawn[other] for other in others)
    for other in rng.permutation(others).tolist():
        drawn[other] = min(highest[other], left)
        left -= drawn[other]
    for _ in range(5 * len(others) if len(others) > 1 else 0):
        one, two = rng.choice(others, 2, replace=False).tolist()
        both = drawn[one] + drawn[two]
        drawn[one] = int(rng.integers(max(0, both - highest[two]), min(highest[one], both) + 1))
        drawn[two] = both - drawn[one]
    return tuple(drawn)


def permuted(
    investments: Sequence[int], highest: Sequence[int], seat: int, rng: np.random.Generator
) -> tuple[int, ...] | None:
    """Draws which of the others invested which amount; all affordable assignments are equally likely.

    Args:
        investments: of every player, in steps.
        highest: the largest investment of every player.
        seat: the player whose own investment stays.
        rng: draws for each amount, the largest first, a player that can afford it.

    Returns:
        The investments; ``None`` if no player can afford an amount.
    """
    drawn = list(investments)
    others = [other for other in range(len(drawn)) if other != seat]
    for amount in sorted((investments[other] for other in others), reverse=True):
        able = [other for other in others if highest[other] >= amount]
        if not able:
            return None
        chosen = able[int(rng.integers(len(able)))]
        others.remove(chosen)
        drawn[chosen] = amount
    return tuple(drawn)
