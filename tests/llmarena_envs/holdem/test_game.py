"""The match: deals, several hands, rewards, forfeits, views."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs.core.options import OptionError
from llmarena_envs.holdem.betting import Action
from llmarena_envs.holdem.cards import card_names, parse_cards
from llmarena_envs.holdem.game import BOARD_SIZES, Holdem
from tests.llmarena_envs.holdem.table import everybody_folds_to_the_end, play, table

BOARD = "2c 7d 9h 4s Jc"


def net(game: Holdem) -> list[float]:
    assert game.to_move == ()
    return list(game.rewards)


# Deals.


def test_an_explicit_deck_is_dealt_by_seat_and_then_to_the_board() -> None:
    game = table("cc cc", deck=f"AhAd KhKd {BOARD}")
    assert card_names(game.hole(0)) == "Ah Ad"
    assert card_names(game.hole(1)) == "Kh Kd"
    assert card_names(game.board) == "2c 7d 9h 4s"


@pytest.mark.parametrize("deck", [f"AhAdKhKd{BOARD}", ["AhAd", "Kh", "Kd", *BOARD.split()], f"A♥A♦ K♥ K♦ {BOARD} 3c3d"])
def test_notations_of_a_deck(deck: str | list[str]) -> None:
    assert net(table("cc cc cc cc", deck=deck)) == [2, -2]


def test_a_published_hand_can_be_replayed_to_the_river() -> None:
    deck = "7c7d AcKs Ah 7h 2d Kc 7s"
    game = table("hc", deck=deck, stack=200)
    assert game.street == 1
    play(game, "hc hc")
    assert card_names(game.board) == "Ah 7h 2d Kc 7s"
    assert net(play(game, "ac")) == [200, -200]


def test_seeds_decide_deal_and_button() -> None:
    def deal(seed: int, **options: Any) -> tuple[Any, ...]:
        game = Holdem(**options)
        game.reset(np.random.default_rng(seed))
        return game.betting.button, game.hole(0), game.hole(1)

    assert deal(1) == deal(1)
    assert len({deal(seed) for seed in range(50)}) == 50
    assert {deal(seed)[0] for seed in range(50)} == {0, 1}
    same_cards = {deal(seed, deck_seed=3)[1:] for seed in range(20)}
    assert len(same_cards) == 1
    assert deal(0, deck_seed=3)[1:] != deal(0, deck_seed=4)[1:]


def test_every_hand_has_its_own_cards() -> None:
    game = table("", hands=5)
    holes = set()
    while game.to_move:
        holes.add(game.hole(0))
        play(game, "f")
    assert len(holes) == 5


def test_the_first_deals_are_uniform() -> None:
    game, rng = Holdem(), np.random.default_rng(0)
    counts = np.zeros(52)
    for _ in range(5200):
        game.reset(rng)
        counts[list(game.hole(0))] += 1
    assert abs(counts - 200).max() < 75  # standard deviation 14


# Several hands.


def test_the_button_moves_and_stacks_carry_on() -> None:
    game = table("f", hands=3)
    assert (game.hand, game.betting.button, game.blinds) == (2, 1, (1, 0))
    assert game.betting.stacks == (97, 100)
    play(game, "f")
    assert (game.hand, game.betting.button) == (3, 0)
    assert net(play(game, "f")) == [-1, 1]
    assert [result.net for result in game.results] == [(-1, 1), (1, -1), (-1, 1)]


def test_the_match_ends_when_one_player_has_all_chips() -> None:
    game = table("ac", hands=10, deck_seed=1)
    assert net(game) in ([100, -100], [-100, 100])
    assert game.hand == 1


def test_a_busted_player_is_out_and_passed_over() -> None:
    game = table("", players=3, hands=4, stack=20)
    deck = (*parse_cards("KhKd 3c5d AhAd"), *parse_cards(BOARD))
    game._decks = (deck,) * 4
    play(game, "fac")  # player_2 calls player_1's all-in with aces
    assert game.betting.stacks[1] == 0
    assert game.betting.live == (True, False, True)
    # Two are left: the button of the next hand is seat 2, which posts the small blind and acts first.
    assert (game.betting.button, game.blinds, game.seat) == (2, (2, 0), 2)
    view = game.view("player_1")
    assert (view.hole, view.legal, view.to_call, view.to_move) == ((), (), 0, False)
    everybody_folds_to_the_end(game)
    assert game.rewards[1] == -20
    assert sum(game.rewards) == 0


def test_hands_that_the_blinds_decide_pass_without_a_turn() -> None:
    game = table("", hands=12, stack=4)
    game._decks = (parse_cards(f"AhKd AsKc {BOARD}"),) * 12
    play(game, "f hf")  # player_0 has one chip left: every blind is all-in, and all hands split
    assert game.to_move == ()
    assert len(game.results) == 12
    assert [result.net for result in game.results[:3]] == [(-1, 1), (-2, 2), (0, 0)]
    assert net(game) == [-3, 3]


def test_results_show_the_cards_of_a_showdown_only() -> None:
    game = table("cc cc cc cc", hands=3)
    play(game, "f")
    first, second = game.results
    assert [len(cards) for cards in first.shown] == [2, 2]
    assert len(first.board) == 5
    assert second.shown == ((), ())
    assert second.board == ()
    assert net(play(game, "f"))[0] == first.net[0]


# Rewards.


def test_reward_win_is_the_sign() -> None:
    assert net(table("f", reward="win")) == [-1, 1]
    assert net(table("ac", deck=f"AhAd KhKd {BOARD}", reward="win")) == [1, -1]
    assert net(table("cc cc cc cc", deck=f"AhKd AsKc {BOARD}", reward="win")) == [0, 0]
    deck = f"AhAd KhKd 2h3h 4h5h {BOARD}"
    assert net(table("ffcc cc cc cc", players=4, button=1, deck=deck, reward="win")) == [0, 0, -1, 1]


@pytest.mark.parametrize(
    ("actions", "options", "rewards"),
    [
        ("", {}, (-1, 1)),
        ("c", {}, (2, -2)),
        ("p", {}, (2, -2)),
        ("pp", {}, (-6, 6)),
        ("a", {}, (2, -2)),
        ("", {"reward": "win"}, (-1, 1)),
        ("", {"players": 3}, (-1, 1, 0)),  # the button has put in nothing: one chip, to the first after the button
        ("c", {"players": 3}, (0, -1, 1)),
        ("pp", {"players": 3}, (1, 1, -2)),
        ("fp", {"players": 3}, (0, 2, -2)),
        ("pf", {"players": 3}, (3, -1, -2)),  # the folded player's chip is lost as well
        ("ppf", {"players": 3}, (-7, 9, -2)),
        ("f", {"hands": 3}, (1, -1)),  # won 1 before and has put in 1: it ends one below its first stack
    ],
)
def test_forfeit_costs_the_stake(actions: str, options: dict[str, Any], rewards: tuple[int, ...]) -> None:
    game = table(actions, **options)
    before = copy.deepcopy(game.__dict__)
    assert game.forfeit(game.to_move) == rewards
    assert game.__dict__ == before


def test_forfeit_in_the_lead_is_a_loss_and_behind_costs_the_stake() -> None:
    lead = table("pc hf cc c", hands=10)  # player_1 has won 6 and put in 2
    assert lead.forfeit(("player_1",)) == (1, -1)
    behind = table("pc hf cc", hands=10)  # player_0 has lost 6 and put in 2
    assert behind.forfeit(("player_0",)) == (-8, 8)


def test_forfeiting_player_ends_last() -> None:
    game = table("", players=3, hands=4, stack=20)
    game._decks = ((*parse_cards("KhKd 3c5d AhAd"), *parse_cards(BOARD)),) * 4
    play(game, "fac")  # player_1 has lost 20, player_2 won 20
    assert game.to_move == ("player_2",)
    assert game.forfeit(("player_2",)) == (40, -20, -20)


# Properties.


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    rules = draw(st.sampled_from(("standard", "standard", "rlcard")))
    big_blind = draw(st.integers(1, 30))
    return {
        "rules": rules,
        "players": draw(st.integers(2, 6)) if rules == "standard" else 2,
        "hands": draw(st.integers(1, 6)),
        "big_blind": big_blind,
        "small_blind": draw(st.integers(1, big_blind)),
        "stack": draw(st.integers(big_blind + 1, 300)),
        "reward": draw(st.sampled_from(("chips", "win"))),
    }


def check_position(game: Holdem) -> None:
    betting = game.betting
    assert sum(betting.stacks) + sum(betting.put_in) == len(game.agents) * game.stack
    assert min(betting.stacks) >= 0
    assert len(game.board) == BOARD_SIZES[game.street]
    assert len(game.history) <= 2 + game.max_turns
    if game.to_move:
        choices = game.choices
        assert betting.live[game.seat]
        assert Action.CHECK_CALL in choices.legal
        assert all(choices.costs[action] <= betting.stacks[game.seat] for action in choices.legal)
        call = choices.costs[Action.CHECK_CALL]
        raises = [choices.costs[action] for action in choices.legal if action >= Action.RAISE_HALF_POT]
        assert raises == sorted(raises)
        assert all(cost > call for cost in raises)
        rewards = game.forfeit(game.to_move)
        if game.reward == "chips":
            assert sum(rewards) == 0
            assert rewards[game.seat] == min(rewards) <= -max(1, betting.put_in[game.seat] if game.hand == 1 else 1)


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(options(), st.integers(0, 2**32), st.floats(0, 1))
def test_chips_are_conserved_and_every_match_ends(chosen: dict[str, Any], seed: int, boldness: float) -> None:
    game = Holdem(**chosen)
    rng = np.random.default_rng(seed)
    game.reset(rng)
    turns = 0
    while game.to_move:
        check_position(game)
        turns += 1
        assert turns <= game.max_turns
        legal_actions = game.choices.legal
        cautious = legal_actions[:2] if len(legal_actions) > 1 else legal_actions
        game.apply((int(rng.choice(legal_actions if rng.random() < boldness else cautious)),))
    check_position(game)
    assert game.betting.put_in == (0,) * len(game.agents)
    expected = [chips - game.stack for chips in game.betting.stacks]
    assert [sum(result.net[seat] for result in game.results) for seat in range(len(game.agents))] == expected
    if game.reward == "win":
        expected = [int(np.sign(chips)) for chips in expected]
    assert list(game.rewards) == expected


# Options.


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"rules": "limit"}, "rules: expected one of 'standard', 'rlcard', got 'limit'"),
        ({"players": 7}, "players: expected an integer from 2 to 6"),
        ({"players": 3, "rules": "rlcard"}, "players: expected an integer from 2 to 2"),
        ({"button": 2}, "button: expected an integer from 0 to 1"),
        ({"button": "left"}, "button: expected"),
        ({"button": True}, "button: expected"),
        ({"stack": 2}, "big_blind: expected an integer from 1 to 1"),
        ({"stack": 10.5}, "stack: expected an integer"),
        ({"big_blind": 0}, "big_blind: expected"),
        ({"small_blind": 3}, "small_blind: expected an integer from 1 to 2"),
        ({"hands": 0}, "hands: expected"),
        ({"reward": "points"}, "reward: expected"),
        ({"deck_seed": -1}, "deck_seed: expected"),
        ({"deck_seed": "x"}, "deck_seed: expected"),
        ({"deck": "AhKh"}, "deck: expected at least 9 cards for 2 players, got 2"),
        ({"deck": f"AhAd AhKd {BOARD}"}, "cards: expected every card once, got Ah twice"),
        ({"deck": f"AhAd KhKd {BOARD}", "hands": 2}, "deck: expected hands=1"),
        ({"deck": f"AhAd KhKd {BOARD}", "deck_seed": 1}, "deck: expected hands=1"),
        ({"deck": 5}, "cards: expected a text or a list"),
    ],
)
def test_bad_options_are_refused(chosen: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Holdem(**chosen)
