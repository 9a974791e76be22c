"""Differential play: one of our games and OpenSpiel's side by side."""

from typing import Any

import numpy as np

from llmarena_envs.core.board import MARKS


def play_beside_open_spiel(game: Any, name: str, games: int, seed: int) -> int:
    """Plays seeded random games in both, compares legal actions, mover and returns at each step; returns the plies played."""
    import pyspiel

    reference = pyspiel.load_game(name)
    rng = np.random.default_rng(seed)
    plies = 0
    for number in range(games):
        game.reset(rng)
        state = reference.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            (agent,) = game.to_move
            assert agent == f"player_{state.current_player()}", (number, state)
            assert list(game.view(agent).legal) == legal, (number, state)
            assert game.view("player_1" if agent == "player_0" else "player_0").legal == ()
            action = legal[int(rng.integers(len(legal)))]
            state.apply_action(action)
            game.apply((action,))
            plies += 1
            assert list(game.rewards) == state.returns(), (number, state)
        assert game.to_move == (), (number, state)
        assert state.history() == list(game.moves)
    return plies


def diagram(*rows: str) -> str:
    """Returns a board as the games hold it, from rows such as ``X.O``."""
    board = "".join(rows).replace(".", "_")
    assert set(board) <= {*MARKS, "_"}
    return board
