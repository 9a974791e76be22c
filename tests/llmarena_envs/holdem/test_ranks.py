"""Ranks of hands: every five-card hand, exact equities, and a second evaluator written from the rules."""

from collections import Counter
from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray
from treys import Card, Evaluator

from llmarena_envs.holdem.cards import CARD_NAMES, parse_cards
from llmarena_envs.holdem.ranks import CATEGORIES, category, hand_rank

# Number of hands of each category, the strongest first; together C(52, 5).
CENSUS = (40, 624, 3744, 5108, 10200, 54912, 123552, 1098240, 1302540)


@pytest.fixture(scope="module")
def all_hands() -> NDArray[np.uint8]:
    count = comb(52, 5)
    flat = (card for hand in combinations(range(52), 5) for card in hand)
    return np.fromiter(flat, dtype=np.uint8, count=5 * count).reshape(count, 5)


@pytest.fixture(scope="module")
def ranks_by_index(all_hands: NDArray[np.uint8]) -> NDArray[np.int16]:
    """The rank of every five-card hand at its ``index``."""
    table = np.zeros(len(all_hands), dtype=np.int16)
    table[index(all_hands)] = [hand_rank(hand) for hand in combinations(range(52), 5)]
    return table


def index(hands: NDArray[np.uint8]) -> NDArray[np.int32]:
    """Numbers hands of five ascending cards from 0 to C(52, 5) - 1."""
    total = np.zeros(len(hands), dtype=np.int32)
    for place in range(5):
        binomials = np.array([comb(card, place + 1) for card in range(52)], dtype=np.int32)
        total += binomials[hands[:, place]]
    return total


@pytest.mark.slow
def test_census_of_all_five_card_hands(ranks_by_index: NDArray[np.int16]) -> None:
    classes, sizes = np.unique(ranks_by_index, return_counts=True)
    assert classes.tolist() == list(range(1, 7463))
    census = Counter()
    for rank, size in zip(classes.tolist(), sizes.tolist(), strict=True):
        census[category(rank)] += size
    assert tuple(census[place] for place in range(len(CATEGORIES))) == CENSUS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hole", "other", "wins", "ties"),
    [
        pytest.param("AsAh", "KsKh", 1_410_336, 9_308, marks=pytest.mark.slow),
        pytest.param("AcAd", "KsKh", 1_388_072, 6_538, marks=pytest.mark.slow),
        ("AhKh", "QsQd", 787_966, 6_732),
    ],
)
def test_exact_equity_over_all_boards(
    all_hands: NDArray[np.uint8], ranks_by_index: NDArray[np.int16], hole: str, other: str, wins: int, ties: int
) -> None:
    holes = parse_cards(hole), parse_cards(other)
    boards = all_hands[~np.isin(all_hands, holes).any(axis=1)]
    assert len(boards) == 1_712_304
    mine, theirs = (best_of_seven(ranks_by_index, boards, cards) for cards in holes)
    assert (int((mine < theirs).sum()), int((mine == theirs).sum())) == (wins, ties)


def best_of_seven(
    ranks_by_index: NDArray[np.int16], boards: NDArray[np.uint8], hole: tuple[int, ...]
) -> NDArray[np.int16]:
    cards = np.sort(np.column_stack([boards, np.tile(np.array(hole, dtype=np.uint8), (len(boards), 1))]), axis=1)
    best = np.full(len(boards), 7463, dtype=np.int16)
    for five in combinations(range(7), 5):
        np.minimum(best, ranks_by_index[index(cards[:, five])], out=best)
    return best


def strength(cards: tuple[int, ...]) -> tuple[int, list[int]]:
    """The rules once more, slowly: category and deciding ranks of five cards; the larger the better."""
    ranks = sorted((card // 4 for card in cards), reverse=True)
    groups = sorted(Counter(ranks).items(), key=lambda item: (item[1], item[0]), reverse=True)
    shape = [size for _, size in groups]
    deciding = [rank for rank, _ in groups]
    flush = len({card % 4 for card in cards}) == 1
    straight = len(groups) == 5 and ranks[0] - ranks[4] == 4
    if ranks == [12, 3, 2, 1, 0]:
        straight, deciding = True, [3]
    if straight:
        return (8 if flush else 4), deciding[:1]
    if shape == [4, 1]:
        return 7, deciding
    if shape == [3, 2]:
        return 6, deciding
    if flush:
        return 5, deciding
    return {(3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1}.get(tuple(shape), 0), deciding


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("size", [5, 6, 7])
def test_hands_are_ordered_by_the_rules(size: int) -> None:
    rng = np.random.default_rng(size)
    hands = [tuple(rng.choice(52, size, replace=False).tolist()) for _ in range(1500)]
    # Hands of one suit are rare in a random sample and common in this one.
    hands += [tuple((4 * rng.choice(13, size, replace=False)).tolist()) for _ in range(200)]
    expected = [max(strength(five) for five in combinations(hand, 5)) for hand in hands]
    ranks = [hand_rank(hand) for hand in hands]
    by_rank: dict[int, tuple[int, list[int]]] = {}
    for rank, value in zip(ranks, expected, strict=True):
        assert by_rank.setdefault(rank, value) == value
        assert 8 - value[0] == category(rank)
    ordered = [by_rank[rank] for rank in sorted(by_rank)]
    assert all(better > worse for better, worse in pairwise(ordered))


def test_ranks_equal_treys() -> None:
    evaluator, rng = Evaluator(), np.random.default_rng(0)
    for _ in range(2000):
        cards = rng.choice(52, 7, replace=False).tolist()
        treys_cards = [Card.new(CARD_NAMES[card]) for card in cards]
        assert hand_rank(cards) == evaluator.evaluate(treys_cards[:2], treys_cards[2:])


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("5h4h3h2hAh 9c 9d", "KsKhKdKc 2c 3c 4d"),  # the lowest straight flush beats four kings
        ("6c5d4h3s2c 9c Kd", "5d4h3s2cAs 9c Kd"),  # the wheel is the lowest straight
        ("TcJdQhKsAc 2c 2d", "9cTdJhQsKc 2c 2d"),
        ("AcKcQcJc9c 9d 9h", "AdKsQhJcTd 9c 9h"),  # a flush beats a straight
        ("QhQdQcJsJd 2c 3d", "JhJdJcAsAd 2c 3d"),  # the three decide between full houses
        ("AhAdKcKs 4c 3d 2h", "AhAdQcQs KcJd9h"),
        ("AhAd 9c 8s 7c 3d 2h", "AhAd 9c 8s 6c 3d 2h"),
    ],
)
def test_better_hands_have_lower_ranks(better: str, worse: str) -> None:
    assert hand_rank(parse_cards(better)) < hand_rank(parse_cards(worse))


def test_suits_never_decide() -> None:
    board = parse_cards("2c 7d 9h Js Qc")
    assert hand_rank((*parse_cards("AhKd"), *board)) == hand_rank((*parse_cards("AsKc"), *board))


def test_board_plays_for_all() -> None:
    board = parse_cards("TcJcQcKcAc")
    assert hand_rank((*parse_cards("2d3d"), *board)) == hand_rank((*parse_cards("AhAd"), *board)) == 1


def test_category_bounds_equal_treys() -> None:
    ends = (10, 166, 322, 1599, 1609, 2467, 3325, 6185, 7462)
    for place, end in enumerate(ends):
        assert category(end) == place
        assert category(end + 1) == place + 1 or place == len(ends) - 1
    assert CATEGORIES[category(1)] == "straight flush"
