"""The published bound on turns, against the whole betting tree."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs.holdem.betting import Action, Betting, blind_seats, longest_hand, post_blinds
from llmarena_envs.holdem.game import RIVER, Holdem


def longest_match(game: Holdem, known: dict[Any, int]) -> int:
    """Returns the most turns that a match of one hand can still take, over every sequence of legal actions."""
    if not game.to_move:
        return 0
    key = (game.betting, game.street, game.seat)
    if key not in known:
        most = 0
        for action in game.choices.legal:
            after = copy.copy(game)
            after.apply((action,))
            most = max(most, 1 + longest_match(after, known))
        known[key] = most
    return known[key]


def new_match(**options: Any) -> Holdem:
    game = Holdem(button=0, deck_seed=0, **options)
    game.reset(np.random.default_rng(0))
    return game


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(("rules", "turns"), [("standard", 14), ("rlcard", 18)])
def test_default_bound_is_the_longest_match(rules: str, turns: int) -> None:
    game = new_match(rules=rules)
    assert longest_match(game, {}) == game.max_turns == turns


@pytest.mark.slow
@pytest.mark.parametrize("big_blind", [1, 2, 3, 7])
def test_standard_heads_up_bound_is_the_longest_match(big_blind: int) -> None:
    for stack in (*range(big_blind + 1, 20), 33, 64, 65, 128, 129):
        for small_blind in {1, (big_blind + 1) // 2, big_blind}:
            game = new_match(stack=stack, small_blind=small_blind, big_blind=big_blind)
            assert longest_match(game, {}) == game.max_turns, (stack, small_blind, big_blind)


@pytest.mark.slow
@pytest.mark.parametrize("big_blind", [1, 2, 3, 7])
def test_rlcard_bound_holds(big_blind: int) -> None:
    for stack in (*range(big_blind + 1, 18), 33, 51):
        for small_blind in {1, (big_blind + 1) // 2, big_blind}:
            game = new_match(rules="rlcard", stack=stack, small_blind=small_blind, big_blind=big_blind)
            assert longest_match(game, {}) <= game.max_turns, (stack, small_blind, big_blind)


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("players", "stack", "blinds"), [(3, 8, (1, 2)), (3, 13, (2, 3)), (4, 5, (1, 2)), (4, 7, (1, 3))]
)
def test_bound_holds_with_more_players(players: int, stack: int, blinds: tuple[int, int]) -> None:
    game = new_match(players=players, stack=stack, small_blind=blinds[0], big_blind=blinds[1])
    assert longest_match(game, {}) <= game.max_turns


def longest_from(betting: Betting, street: int, seat: int, known: dict[Any, int]) -> int:
    """Returns the most turns from the one of ``seat`` to the end of the hand."""
    key = (betting, street, seat)
    if key not in known:
        most = 0
        choices = betting.choices(seat)
        for action in choices.legal:
            after = betting.fold(seat) if action == Action.FOLD else betting.bet(seat, choices.costs[action])
            most = max(most, 1 + longest_after(after, street, after.next_to_act(seat), known))
        known[key] = most
    return known[key]


def longest_after(betting: Betting, street: int, seat: int, known: dict[Any, int]) -> int:
    while seat < 0 and street < RIVER and sum(betting.live) > 1:
        street, betting = street + 1, betting.next_street()
        seat = betting.next_to_act(betting.button)
    return 0 if seat < 0 else longest_from(betting, street, seat, known)


@st.composite
def later_hands(draw: st.DrawFn) -> tuple[str, tuple[int, ...], int, int, int]:
    """Rules, possible stacks after some hands, initial stacks, and the blinds."""
    players = draw(st.sampled_from((2, 2, 3)))
    stack = draw(st.integers(3, 40 if players == 2 else 6))
    left = players * stack
    stacks = []
    for _ in range(players - 1):
        stacks.append(draw(st.integers(0, left)))
        left -= stacks[-1]
    stacks.append(left)
    big_blind = draw(st.integers(1, stack - 1))
    rules = draw(st.sampled_from(("standard", "rlcard"))) if players == 2 else "standard"
    return rules, tuple(draw(st.permutations(stacks))), stack, draw(st.integers(1, big_blind)), big_blind


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(later_hands())
def test_bound_holds_for_uneven_stacks(hand: tuple[str, tuple[int, ...], int, int, int]) -> None:
    rules, stacks, stack, small_blind, big_blind = hand
    seats = [seat for seat, chips in enumerate(stacks) if chips]
    if len(seats) < 2:
        return
    button = seats[0]
    blinds = blind_seats(rules, button, stacks)
    betting = post_blinds(rules, button, blinds, small_blind, big_blind, stacks)
    turns = longest_after(betting, 0, betting.next_to_act(blinds[1]), {})
    assert turns <= longest_hand(rules, len(stacks), stack, big_blind, equal_stacks=False)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_random_matches_keep_the_bound(data: st.DataObject) -> None:
    players = data.draw(st.integers(2, 6))
    big_blind = data.draw(st.integers(1, 20))
    game = Holdem(
        players=players,
        hands=data.draw(st.integers(1, 8)),
        stack=data.draw(st.integers(big_blind + 1, 500)),
        small_blind=data.draw(st.integers(1, big_blind)),
        big_blind=big_blind,
    )
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    game.reset(rng)
    turns = 0
    while game.to_move:
        legal = game.choices.legal
        # Small raises and checks make the longest matches.
        game.apply((next((action for action in (2, 1) if action in legal and rng.random() < 0.6), legal[-1]),))
        turns += 1
        assert turns <= game.max_turns
