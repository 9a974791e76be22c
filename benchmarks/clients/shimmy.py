"""Shimmy: a loop written for the environments it converts, and an adapter to OpenSpiel's agents.

Shimmy makes PettingZoo environments of OpenSpiel's games; here PettingZoo environments go to what was written for those.
"""

from typing import Any

import numpy as np
from open_spiel.python.algorithms.tabular_qlearner import QLearner
from open_spiel.python.rl_environment import StepType, TimeStep
from shimmy import OpenSpielCompatibilityV0

from benchmarks.clients.games import TEXT, VECTOR, Make
from benchmarks.clients.loops import step_randomly
from benchmarks.clients.trials import Trial


def shimmy_loop(make: Make, smoke: bool) -> None:
    """One loop plays a game that Shimmy converted from OpenSpiel, and then ours."""
    for env in (OpenSpielCompatibilityV0(game_name="tic_tac_toe"), make()):
        assert step_randomly(env, 50) > 0


def open_spiel_agents(make: Make, smoke: bool) -> None:
    """OpenSpiel's Q-learners play each other, one a seat."""
    env = make()
    size = int(env.action_space(env.possible_agents[0]).n)
    learners = [QLearner(seat, size) for seat in range(len(env.possible_agents))]
    for match in range(3):
        env.reset(seed=match)
        rewards = np.zeros(len(learners))
        moved = set()
        while not any(env.terminations.values()):
            mover = env.possible_agents.index(env.agent_selection)
            step = _time_step(env, rewards, StepType.MID)
            env.step(int(learners[mover].step(step).action))
            moved.add(mover)
            rewards = np.array(list(env.rewards.values()))
        last = _time_step(env, rewards, StepType.LAST)
        for seat in sorted(moved):  # a Q-learner needs a move in a match before its end
            learners[seat].step(last)


def _time_step(env: Any, rewards: Any, kind: StepType) -> TimeStep:
    seen = [env.observe(agent) for agent in env.possible_agents]
    observations = {
        "info_state": [observation["observation"].ravel() for observation in seen],
        "legal_actions": [np.flatnonzero(observation["action_mask"]).tolist() for observation in seen],
        "current_player": env.possible_agents.index(env.agent_selection),
    }
    return TimeStep(observations, rewards, np.ones(len(seen)), kind)


TRIALS = (
    Trial("a loop over Shimmy's OpenSpiel game and ours", VECTOR, shimmy_loop),
    Trial("a loop over Shimmy's OpenSpiel game and ours", TEXT, shimmy_loop),
    Trial("adapter to OpenSpiel's time steps, Q-learners", VECTOR, open_spiel_agents),
)
