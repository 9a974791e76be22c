"""What a player does not know of a round that is over, drawn anew."""

from collections.abc import Sequence

import numpy as np


def redistributed(
    investments: Sequence[int], highest: Sequence[int], seat: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """Draws what the others invested, with the same sum.

    Args:
        investments: of every player, in steps.
        highest: the largest investment of every player.
        seat: the player whose own investment stays.
        rng: draws by pairs of players, who share what they have uniformly: in the long run, all is equally likely.
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
    """Draws who of the others invested which of the amounts; all that they could afford is equally likely.

    Args:
        investments: of every player, in steps.
        highest: the largest investment of every player.
        seat: the player whose own investment stays.
        rng: draws for each amount, the largest first, one of those who could afford it.

    Returns:
        The investments; ``None`` if there is an amount that nobody could afford.
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
