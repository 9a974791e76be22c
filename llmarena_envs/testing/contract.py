"""Rules about the game alone: the contract of ``Game`` and ``View``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from llmarena_envs.core.game import Game
from llmarena_envs.testing.trial import Trial, is_over

_FLAGS = (bool, np.bool_)
_INTEGERS = (int, np.integer)


def the_first_stage_keeps_the_contract(trial: Trial) -> None:
    """``Game.reset`` sets ``to_move``, consistent with every view; the first ``apply`` sets every agent's reward.

    ``to_move`` is a tuple of some of ``agents`` in seat order. A view is a ``NamedTuple`` with its owner as ``agent``; its
    ``to_move`` says whether that agent is to move, and only then there are ``legal`` actions, without duplicates. Enumerated
    actions are a nonempty tuple or range of numbers below ``num_actions``.
    """
    for seed in trial.seeds:
        raw = trial.make().unwrapped
        if not hasattr(raw, "game"):
            return
        trial.seed, trial.turn = seed, 0
        game, rng = raw.game, np.random.default_rng(seed)
        agents = game.agents
        game.reset(np.random.default_rng(seed))
        trial.expect(getattr(game, "to_move", ()), "reset() to set to_move to those who act first", "nobody to move")
        _check_position(trial, game)
        game.apply(tuple(game.random_action(agent, rng) for agent in game.to_move))
        trial.turn = 1
        trial.expect(game.agents == agents, f"the agents to stay the same, also who is out: {agents}", game.agents)
        expected = f"apply() to set rewards to a number for each of {agents}"
        trial.expect(len(game.rewards) == len(agents), expected, game.rewards)
        _check_position(trial, game)


def every_position_keeps_the_contract(trial: Trial) -> None:
    """At every position of a match ``to_move`` and the views are as in ``the_first_stage_keeps_the_contract``."""
    for env in trial.positions():
        if not hasattr(env.unwrapped, "game"):
            return
        if not is_over(env):
            _check_position(trial, env.unwrapped.game)


def _check_position(trial: Trial, game: Game[Any, Any]) -> None:
    in_seat_order = tuple(agent for agent in game.agents if agent in game.to_move)
    expected = f"to_move as a tuple of agents in seat order, out of {game.agents}"
    trial.expect(game.to_move == in_seat_order, expected, game.to_move)
    for agent in game.agents:
        _check_view(trial, game, agent)


def _check_view(trial: Trial, game: Game[Any, Any], agent: str) -> None:
    view = game.view(agent)
    moves = agent in game.to_move
    trial.expect(isinstance(view, tuple) and hasattr(view, "_replace"), "a NamedTuple as view", view, agent)
    trial.expect(view.agent == agent, f"view.agent = {agent!r}", view.agent, agent)
    is_flag = isinstance(view.to_move, _FLAGS) and bool(view.to_move) == moves
    trial.expect(is_flag, f"view.to_move = {moves}, as to_move is {game.to_move}", view.to_move, agent)
    trial.expect(isinstance(view.legal, Sequence), "a tuple or a range as view.legal", view.legal, agent)
    trial.expect(moves or not len(view.legal), "no legal actions for an agent that is not to move", view.legal, agent)
    if game.num_actions is not None:
        _check_numbers(trial, view.legal, game.num_actions, moves, agent)
    elif moves and not len(view.legal):
        drawn = type(game).random_action is not Game.random_action
        trial.expect(drawn, "the game to define random_action, where legal actions cannot be listed", view.legal, agent)


def _check_numbers(trial: Trial, legal: Sequence[Any], size: int, moves: bool, agent: str) -> None:
    trial.expect(isinstance(legal, tuple | range), "a tuple or a range as view.legal", legal, agent)
    trial.expect(len(legal) or not moves, "a legal action at least for an agent that is to move", legal, agent)
    strange = [action for action in legal if not (isinstance(action, _INTEGERS) and 0 <= action < size)]
    trial.expect(not strange, f"legal actions out of 0..{size - 1} (num_actions = {size})", strange, agent)
    trial.expect(len(set(legal)) == len(legal), "each legal action once", legal, agent)


RULES = (every_position_keeps_the_contract,)
