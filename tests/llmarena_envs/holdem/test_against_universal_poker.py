"""Standard rules heads-up beside OpenSpiel's universal_poker: turns, legal actions and returns."""

from typing import Any

import numpy as np
import pytest

from llmarena_envs.holdem.betting import Action
from llmarena_envs.holdem.cards import card_names
from llmarena_envs.holdem.game import Holdem

BUTTON = 1
"""universal_poker's player 1 posts the small blind here and acts first before the flop."""


def universal_poker(stack: int, small_blind: int, big_blind: int) -> Any:
    import pyspiel

    return pyspiel.load_game(
        "universal_poker",
        {
            "betting": "nolimit",
            "bettingAbstraction": "fullgame",
            "numPlayers": 2,
            "numRounds": 4,
            "blind": f"{big_blind} {small_blind}",
            "firstPlayer": "2 1 1 1",
            "numSuits": 4,
            "numRanks": 13,
            "numHoleCards": 2,
            "numBoardCards": "0 3 1 1",
            "stack": f"{stack} {stack}",
        },
    )


def expected_legal(game: Holdem, state: Any) -> set[int]:
    """Translates universal_poker's legal actions, 0 to fold, 1 to call and the chips put in after a raise."""
    allowed = set(state.legal_actions())
    put_in, stack = game.betting.put_in[game.seat], game.betting.stacks[game.seat]
    legal = {action for action in (Action.FOLD, Action.CHECK_CALL) if action in allowed}
    for action in (Action.RAISE_HALF_POT, Action.RAISE_FULL_POT):
        cost = game.choices.costs[action]
        if cost < stack and put_in + cost in allowed:
            legal.add(action)
    if put_in + stack in allowed:
        legal.add(Action.ALL_IN)
    return legal


def play_beside(reference: Any, stack: int, small_blind: int, big_blind: int, rng: np.random.Generator) -> None:
    deck = tuple(rng.permutation(52)[:9].tolist())
    game = Holdem(button=BUTTON, stack=stack, small_blind=small_blind, big_blind=big_blind, deck=card_names(deck))
    game.reset(rng)
    state = reference.new_initial_state()
    boldness = rng.random()
    dealt = iter(deck)
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(next(dealt))
            continue
        assert game.to_move == (f"player_{state.current_player()}",)
        assert set(game.choices.legal) == expected_legal(game, state), str(state)
        action = int(rng.choice(game.choices.legal[1:] if rng.random() < boldness else game.choices.legal[:2]))
        put_in = game.betting.put_in[game.seat] + game.choices.costs[action]
        state.apply_action(action if action <= Action.CHECK_CALL else put_in)
        game.apply((action,))
    assert game.to_move == ()
    assert list(game.rewards) == state.returns(), str(state)


@pytest.mark.parametrize(
    ("stack", "small_blind", "big_blind", "hands"),
    [(100, 1, 2, 4000), (20, 1, 2, 800), (57, 3, 7, 800), (300, 5, 5, 400), (3, 1, 2, 200)],
)
@pytest.mark.needs("pyspiel")
def test_same_turns_and_returns_as_universal_poker(stack: int, small_blind: int, big_blind: int, hands: int) -> None:
    reference, rng = universal_poker(stack, small_blind, big_blind), np.random.default_rng(stack)
    for _ in range(hands):
        play_beside(reference, stack, small_blind, big_blind, rng)
