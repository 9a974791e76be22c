"""A table for tests: actions by name, and the legal actions of the seat to act."""

from typing import Any

import numpy as np

from llmarena_envs.holdem.betting import Action
from llmarena_envs.holdem.game import Holdem

LETTERS = {
    "f": Action.FOLD,
    "c": Action.CHECK_CALL,
    "h": Action.RAISE_HALF_POT,
    "p": Action.RAISE_FULL_POT,
    "a": Action.ALL_IN,
}
NAMES = {action: letter for letter, action in LETTERS.items()}


def table(actions: str = "", **options: Any) -> Holdem:
    """Returns a game after some actions, one letter each; blanks between the streets do not matter."""
    deal = {} if "deck" in options else {"deck_seed": 0}
    game = Holdem(**{"button": 0, **deal, **options})
    game.reset(np.random.default_rng(0))
    return play(game, actions)


def play(game: Holdem, actions: str) -> Holdem:
    """Takes some actions and asserts that each is legal."""
    for letter in actions.replace(" ", ""):
        action = LETTERS[letter]
        (agent,) = game.to_move
        assert game.why_illegal(agent, action) is None, (actions, letter, game.why_illegal(agent, action))
        game.apply((action,))
    return game


def legal(game: Holdem) -> str:
    """Returns the letters of the legal actions."""
    return "".join(NAMES[Action(action)] for action in game.choices.legal)


def cost(game: Holdem, letter: str) -> int:
    """Returns the cost of an action for the seat to act."""
    return game.choices.costs[LETTERS[letter]]


def everybody_folds_to_the_end(game: Holdem) -> Holdem:
    """Finishes a match by folds and checks."""
    while game.to_move:
        play(game, "f" if "f" in legal(game) else "c")
    return game
