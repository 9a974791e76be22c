"""Redraws cards a player has not seen."""

from collections.abc import Collection

import numpy as np

_CARDS = 52


def deal_unseen(deck: tuple[int, ...], seen: Collection[int], rng: np.random.Generator) -> tuple[int, ...]:
    """Returns another deck with some cards kept in position; all others are equally likely.

    Args:
        deck: the cards of a hand in dealing order, all of the pack or fewer.
        seen: the positions of kept cards.
        rng: draws the other cards from the rest of the pack.
    """
    known = [deck[place] for place in seen]
    unseen = iter(rng.permutation([card for card in range(_CARDS) if card not in known]).tolist())
    return tuple([card if place in seen else next(unseen) for place, card in enumerate(deck)])
