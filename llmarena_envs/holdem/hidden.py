"""Cards that a player has not seen, dealt anew."""

from collections.abc import Collection

import numpy as np

_CARDS = 52


def deal_unseen(deck: tuple[int, ...], seen: Collection[int], rng: np.random.Generator) -> tuple[int, ...]:
    """Returns another deck in which some cards stay where they are; all others are equally likely.

    Args:
        deck: the cards of a hand in the order of the deal, all of the pack or fewer.
        seen: the places of the cards that stay.
        rng: draws the other ones from the rest of the pack.
    """
    known = [deck[place] for place in seen]
    unseen = iter(rng.permutation([card for card in range(_CARDS) if card not in known]).tolist())
    return tuple([card if place in seen else next(unseen) for place, card in enumerate(deck)])
