"""One decision on the flop instead of a match."""

from typing import Any

import numpy as np
import pytest

from llmarena_envs import holdem_v0
from llmarena_envs.core.options import OptionError
from llmarena_envs.holdem.decision import FACING_BET, OPEN, FlopDecision
from tests.llmarena_envs.holdem.table import LETTERS, legal

DECK = "AhAd KhKd 2c 7d 9h 4s Jc"


def state(decision: str, **options: Any) -> FlopDecision:
    game = FlopDecision(decision, deck=DECK, **options)
    game.reset(np.random.default_rng(0))
    return game


def betting(game: FlopDecision) -> list[tuple[int, int, str, int]]:
    """The betting after the blinds: street, seat, kind, chips."""
    return [event[:4] for event in game.history[2:]]


PREFLOP = {0: [(0, 0, "call", 1), (0, 1, "check", 0)], 1: [(0, 1, "call", 1), (0, 0, "check", 0)]}
"""By the seat of the small blind."""


@pytest.mark.parametrize(
    ("rules", "button", "small_blind", "first"),
    [("standard", 0, 0, 1), ("standard", 1, 1, 0), ("rlcard", 0, 1, 1), ("rlcard", 1, 0, 0)],
)
def test_the_play_up_to_the_decision(rules: str, button: int, small_blind: int, first: int) -> None:
    player_0_checks, player_1_checks = [(1, 0, "check", 0)], [(1, 1, "check", 0)]
    bet = [(1, 1, "raise_half_pot", 2)]
    game = state(OPEN, rules=rules, button=button)
    assert betting(game) == PREFLOP[small_blind] + (player_1_checks if first == 1 else [])
    assert (game.to_move, game.betting.put_in) == (("player_0",), (2, 2))
    assert legal(game) == ("chpa" if rules == "standard" else "fchpa")
    game = state(FACING_BET, rules=rules, button=button)
    assert betting(game) == PREFLOP[small_blind] + (player_0_checks if first == 0 else []) + bet
    assert (game.to_move, game.betting.put_in) == (("player_0",), (2, 4))
    assert legal(game) == "fchpa"


@pytest.mark.parametrize("action", "fchpa")
def test_match_ends_with_the_decision_without_losses(action: str) -> None:
    game = state(FACING_BET, button=0)
    flop = game.board
    game.apply((LETTERS[action],))
    assert (game.to_move, game.rewards, game.betting.stacks) == ((), (0.0, 0.0), (100, 100))
    assert game.history[-1].seat == 0
    assert (game.board, game.results) == (flop, ())
    assert all(not game.view(agent).legal for agent in game.agents)


def test_decision_uses_ordinary_cards_and_hides_them() -> None:
    env = holdem_v0.env(decision=OPEN, language="en")
    env.reset(seed=3)
    ordinary = holdem_v0.env()
    ordinary.reset(seed=3)
    game, same = env.unwrapped.game, ordinary.unwrapped.game
    assert [game.hole(seat) for seat in (0, 1)] == [same.hole(seat) for seat in (0, 1)]
    env.step(LETTERS["c"])
    assert "Shown" not in env.unwrapped.observe("player_0")["text"]
    assert "The decision has been made." in env.unwrapped.observe("player_0")["text"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decision": "flop"}, r"decision: expected one of 'open', 'facing_bet', got 'flop'"),
        ({"decision": "open", "players": 3}, r"expected players=2 and hands=1 beside it.* got players=3, hands=1"),
        ({"decision": "open", "hands": 2}, r"got players=2, hands=2"),
        ({"decision": "facing_bet", "stack": 4}, r"stack: expected more than 4 chips .* got 4"),
    ],
)
def test_bad_combinations_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        holdem_v0.raw_env(**options)


@pytest.mark.parametrize(("decision", "stack"), [(OPEN, 3), (FACING_BET, 5)])
@pytest.mark.parametrize("rules", ["standard", "rlcard"])
@pytest.mark.parametrize("button", [0, 1])
def test_the_smallest_stacks_come_to_a_decision(decision: str, stack: int, rules: str, button: int) -> None:
    game = state(decision, stack=stack, rules=rules, button=button)
    assert game.to_move == ("player_0",)
    assert game.street == 1
