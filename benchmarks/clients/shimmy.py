"""Shimmy: loops written for the environments it converts, and the adapters to their interfaces that users write.

Shimmy makes PettingZoo environments of OpenSpiel's and dm-env's; here PettingZoo environments go to agents and loops that
were written for those two.
"""

from typing import Any

import dm_env
import numpy as np
from dm_env import specs
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


class DmEnv(dm_env.Environment):
    """An AEC environment as dm-env's time steps, from the view of the agent to move."""

    def __init__(self, env: Any) -> None:
        self.env = env

    def reset(self) -> dm_env.TimeStep:
        """Begins a match."""
        self.env.reset()
        return dm_env.restart(self._observation())

    def step(self, action: Any) -> dm_env.TimeStep:
        """Acts for the agent to move and returns this agent's reward."""
        if not self.env.agents or any(self.env.terminations.values()):
            return self.reset()
        mover = self.env.agent_selection
        self.env.step(action)
        reward = self.env.rewards[mover]
        if any(self.env.terminations.values()):
            return dm_env.termination(reward, self._observation())
        return dm_env.transition(reward, self._observation())

    def observation_spec(self) -> dict[str, specs.Array]:
        """Describes the arrays of an observation."""
        space = self.env.observation_space(self.env.possible_agents[0])
        return {name: specs.Array(member.shape, member.dtype, name) for name, member in space.items()}

    def action_spec(self) -> specs.DiscreteArray:
        """Describes an action."""
        return specs.DiscreteArray(int(self.env.action_space(self.env.possible_agents[0]).n))

    def _observation(self) -> Any:
        return self.env.observe(self.env.agent_selection)


def dm_env_loop(make: Make, smoke: bool) -> None:
    """dm-env's loop, with every observation and action held against its specification."""
    env = DmEnv(make())
    observations, actions = env.observation_spec(), env.action_spec()
    step = env.reset()
    for _ in range(50):
        for name, spec in observations.items():
            spec.validate(step.observation[name])
        legal = np.flatnonzero(step.observation["action_mask"])
        action = actions.dtype.type(0 if step.last() else legal[-1])
        step = env.step(int(actions.validate(action)))


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
    Trial("adapter to dm-env", VECTOR, dm_env_loop),
    Trial("adapter to OpenSpiel's time steps, Q-learners", VECTOR, open_spiel_agents),
)
