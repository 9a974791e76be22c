"""Hand ranks, from the tables of treys."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import combinations
from math import prod

from treys.lookup import LookupTable

CATEGORIES = (
    "straight flush",
    "four of a kind",
    "full house",
    "flush",
    "straight",
    "three of a kind",
    "two pair",
    "pair",
    "high card",
)
"""Categories of hands, the strongest first."""

_LAST_RANKS = (10, 166, 322, 1599, 1609, 2467, 3325, 6185, 7462)

# treys indexes its tables by the product of a prime number for each card's rank.
_TABLES = LookupTable()
_SAME_SUIT = _TABLES.flush_lookup
_ANY_SUITS = _TABLES.unsuited_lookup
_PRIMES = tuple(prime for prime in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41) for _ in range(4))


def hand_rank(cards: Sequence[int]) -> int:
    """Returns the rank of the best five of five to seven cards.

    From 1 (royal flush) to 7462 (7-5-4-3-2 of mixed suits); equal for hands that split a pot.
    """
    primes = [_PRIMES[card] for card in cards]
    rank = min(map(_ANY_SUITS.__getitem__, map(prod, combinations(primes, 5))))
    suits = [card % 4 for card in cards]
    middle = sorted(suits)[len(suits) // 2]  # five cards of one suit include the middle one of at most seven
    if suits.count(middle) >= 5:
        suited = [prime for prime, suit in zip(primes, suits, strict=True) if suit == middle]
        rank = min(rank, *map(_SAME_SUIT.__getitem__, map(prod, combinations(suited, 5))))
    return rank


def category(rank: int) -> int:
    """Returns the index of a rank in ``CATEGORIES``: 0 for a straight flush, 8 for a high card."""
    return bisect_left(_LAST_RANKS, rank)
