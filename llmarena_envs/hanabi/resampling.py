"""Redraws cards hidden from a player: all hands that hints allow are equally likely."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from llmarena_envs.hanabi.cards import Card, Knowledge


def deal_hidden(
    cards: Sequence[Card], knowledge: Sequence[Knowledge], rng: np.random.Generator
) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """Deals a hand consistent with hints.

    Args:
        cards: candidates for the hand.
        knowledge: hint knowledge about each card of the hand.
        rng: draws uniformly among all choices consistent with the hints.

    Returns:
        The hand and the rest of the cards, the rest in random order.
    """
    # A set of cards is a bit mask of card numbers.
    fitting = [
        sum(1 << number for number, card in enumerate(cards) if card.color in known.colors and card.rank in known.ranks)
        for known in knowledge
    ]
    hand = []
    for position in range(len(fitting)):
        own, later = fitting[position], fitting[position + 1 :]
        numbers = [number for number in range(len(cards)) if own >> number & 1]
        ways = [*accumulate(_ways([other & ~(1 << number) for other in later]) for number in numbers)]
        number = numbers[bisect_right(ways, int(rng.integers(ways[-1])))]
        hand.append(number)
        fitting[position + 1 :] = [other & ~(1 << number) for other in later]
    rest = [number for number in rng.permutation(len(cards)).tolist() if number not in hand]
    return tuple([cards[number] for number in hand]), tuple([cards[number] for number in rest])


def _ways(sets: list[int]) -> int:
    """Returns the number of ways to choose a card of each set without repetition.

    Recursion: the ways for all sets but the first, times the size of the first, minus those that repeat the first choice.
    """
    if len(sets) < 2:
        return sets[0].bit_count() if sets else 1
    first, *others = sets
    same = sum(_ways([*others[:place], other & first, *others[place + 1 :]]) for place, other in enumerate(others))
    return first.bit_count() * _ways(others) - same


def places_in_deck(
    history: Sequence[tuple[int, int | None]], players: int, hand_size: int, dealt: int
) -> list[list[int]]:
    """Returns for every player the deck positions of its hand.

    Args:
        history: acting seat, and the played or discarded position of its hand; ``None`` for a hint.
        players: number of players.
        hand_size: initial cards of a hand.
        dealt: number of dealt cards.
    """
    places = [[*range(first, first + hand_size)] for first in range(0, players * hand_size, hand_size)]
    following = players * hand_size
    for player, position in history:
        if position is not None:
            del places[player][position]
            if following < dealt:
                places[player].append(following)
                following += 1
    return places
