"""The betting: order, sizes of raises, short all-ins, short blinds, ends of streets and hands."""

import pytest

from llmarena_envs.core.failures import Reason
from llmarena_envs.holdem.betting import Action, Betting, post_blinds
from tests.llmarena_envs.holdem.table import cost, legal, play, table


def order(game_options: dict[str, object], actions: str) -> str:
    """Returns the seats that act, street by street, while ``actions`` are taken."""
    seats = []
    game = table(**game_options)
    for street in actions.split():
        acting = ""
        for letter in street:
            acting += str(game.seat)
            play(game, letter)
        seats.append(acting)
    return " ".join(seats)


def test_rlcard_order() -> None:
    game = table(rules="rlcard")
    assert game.blinds == (1, 0)
    assert game.betting.put_in == (2, 1)
    assert order({"rules": "rlcard"}, "cc cc cc cc") == "10 10 10 10"


def test_the_big_blind_may_raise_after_calls_and_not_fold() -> None:
    game = table("c")
    assert (game.seat, legal(game)) == (1, "chpa")
    game = table("ccc", players=4)
    assert (game.seat, game.street, legal(game)) == (2, 0, "chpa")


def test_fold_only_when_facing_a_bet() -> None:
    assert "f" in legal(table())
    assert "f" not in legal(table("cc"))
    assert "f" not in legal(table("cc c"))
    assert "f" in legal(table("cc h"))
    game = table("cc")
    assert game.why_illegal("player_1", Action.FOLD) == Reason("no_bet")


@pytest.mark.parametrize(
    "actions", ["", "c", "p", "cc", "cc c", "cc h", "cc cc", "cc cc p", "cc cc cc", "cc cc cc c", "a"]
)
def test_fold_always_under_rlcard(actions: str) -> None:
    assert "f" in legal(table(actions, rules="rlcard"))


@pytest.mark.parametrize(
    ("actions", "half", "full"),
    [
        ("", 1 + 2, 1 + 4),  # pot 3 and a call of 1
        ("c", 2, 4),
        ("h", 2 + 4, 2 + 8),  # 4 against 2: a call makes it 8
        ("p", 4 + 6, 4 + 12),  # 6 against 2: a call makes it 12
        ("cc", 2, 4),
        ("cc h", 2 + 4, 2 + 8),
        ("cc p", 4 + 6, 4 + 12),
        ("cc hc", 4, 8),
    ],
)
def test_a_raise_calls_and_then_adds_to_the_pot_after_the_call(actions: str, half: int, full: int) -> None:
    game = table(actions)
    assert (cost(game, "h"), cost(game, "p")) == (half, full)


def test_half_of_an_odd_pot_is_rounded_down() -> None:
    game = table("", players=3)  # pot 3, a call of 2 makes it 5
    assert (cost(game, "h"), cost(game, "p")) == (2 + 2, 2 + 5)


@pytest.mark.parametrize(
    ("actions", "half", "full"), [("", 1, 3), ("c", 2, 4), ("p", 3, 6), ("cc", 2, 4), ("cc h", 3, 6), ("cc p", 4, 8)]
)
def test_rlcard_raises_include_the_call(actions: str, half: int, full: int) -> None:
    game = table(actions, rules="rlcard")
    assert (cost(game, "h"), cost(game, "p")) == (half, full)


def test_rlcard_offers_half_the_pot_only_if_it_is_more_than_a_call() -> None:
    assert legal(table("", rules="rlcard")) == "fcpa"  # half of 3 is 1, which only calls
    assert legal(table("c", rules="rlcard")) == "fchpa"


def test_rlcard_offers_raise_of_all_chips_and_standard_does_not() -> None:
    rlcard = table("cc c", stack=4, rules="rlcard")  # 2 left, half of the pot of 4
    assert (legal(rlcard), cost(rlcard, "h")) == ("fcha", 2)
    standard = table("cc c", stack=4)
    assert (legal(standard), cost(standard, "h")) == ("ca", 2)
    assert getattr(standard.why_illegal(standard.to_move[0], Action.RAISE_HALF_POT), "name", "") == "too_large"


def test_a_raise_beyond_the_stack_is_masked_and_all_in_stays() -> None:
    game = table("cc hc hc h", stack=40)  # 32 left, 8 to call into a pot of 24
    assert (cost(game, "h"), cost(game, "p"), cost(game, "a")) == (8 + 16, 8 + 32, 32)
    assert legal(game) == "fcha"
    assert game.why_illegal(game.to_move[0], Action.RAISE_FULL_POT) == Reason("too_large", {"cost": 40, "stack": 32})


def uneven(*stacks: int, button: int = 0, small_blind: int = 1, big_blind: int = 2) -> Betting:
    """Returns the beginning of a hand under the standard rules, with any stacks."""
    seats = len(stacks)
    blinds = (button, 1 - button) if seats == 2 else ((button + 1) % seats, (button + 2) % seats)
    return post_blinds("standard", button, blinds, small_blind, big_blind, stacks)


def legal_at(betting: Betting, seat: int) -> str:
    return "".join("fchpa"[action] for action in betting.choices(seat).legal)


def test_a_short_all_in_does_not_reopen_the_betting() -> None:
    # Seat 0 raises to 20, seat 1 calls, seat 2 is all-in for 27, which adds 7 where a raise adds 18 or more.
    betting = uneven(200, 200, 27, 200).bet(3, 2).bet(0, 20).bet(1, 19).bet(2, 25)
    assert betting.next_to_act(2) == 3
    assert legal_at(betting, 3) == "fchpa"  # has only called the blind: the bet went up by 25 since
    assert betting.min_raise == 18
    assert legal_at(betting, 0) == "fc"
    assert betting.choices(0).why_illegal[Action.ALL_IN] == Reason("not_reopened")
    called = betting.bet(3, 25)
    assert called.next_to_act(3) == 0
    assert legal_at(called.bet(0, 7), 1) == "fc"


def test_two_short_all_ins_that_make_a_full_raise_reopen_it() -> None:
    betting = uneven(200, 200, 30, 41).bet(3, 2).bet(0, 20).bet(1, 19).bet(2, 28).bet(3, 39)
    assert betting.level == 41
    assert betting.min_raise == 18
    assert legal_at(betting, 0) == "fchpa"  # 21 more since it raised to 20


def test_a_full_raise_reopens_it() -> None:
    betting = uneven(2000, 2000, 27, 2000).bet(3, 2).bet(0, 20).bet(1, 19).bet(2, 25).bet(3, 60)
    assert betting.level == 62
    assert legal_at(betting, 0) == "fchpa"


def test_short_all_in_keeps_the_minimum_raise() -> None:
    betting = uneven(500, 500, 25, 500).bet(3, 20).bet(0, 0).fold(0).fold(1).bet(2, 23)
    assert (betting.level, betting.min_raise) == (25, 18)


def test_short_opening_all_in_does_not_reopen_for_checkers() -> None:
    betting = uneven(100, 100, 3).bet(0, 2).bet(1, 1).bet(2, 0).next_street()
    assert betting.next_to_act(betting.button) == 1
    betting = betting.bet(1, 0).bet(2, 1)
    assert betting.level == 1
    assert legal_at(betting, 0) == "fchpa"  # has not acted
    assert legal_at(betting.bet(0, 1), 1) == "fc"


def test_raises_below_the_smallest_are_not_offered() -> None:
    # The big blind of 10 is short: half of the pot after a call (1 + 1 + 10) is less than a raise of 10.
    betting = uneven(200, 200, 1, 200, small_blind=1, big_blind=10)
    assert betting.to_call(3) == 10
    choices = betting.choices(3)
    assert choices.costs[Action.RAISE_HALF_POT] == 10 + 6
    assert choices.why_illegal[Action.RAISE_HALF_POT] == Reason("too_small")
    assert legal_at(betting, 3) == "fcpa"


def test_a_short_big_blind_heads_up_needs_no_more_than_its_chips() -> None:
    assert uneven(100, 1).next_to_act(1) == -1  # the small blind has matched it
    betting = uneven(100, 3, small_blind=2, big_blind=5)
    assert betting.next_to_act(1) == 0
    assert betting.to_call(0) == 1
    assert legal_at(betting, 0) == "fc"
    # With the others out of the hand the same holds at a larger table.
    assert uneven(100, 100, 1).fold(0).next_to_act(0) == -1
