"""Rules about an agent's information: its view only."""

import copy
from typing import Any

import numpy as np

from llmarena_envs.core.ending import Ending
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.testing.transcript import expect_equal, observations, plain, snapshot
from llmarena_envs.testing.trial import Trial, agents_to_move, is_over

PENDING_TRIED = 3
"""Number of pending moves tried at one position of a simultaneous stage, including an illegal one."""


def equal_views_give_equal_observations(trial: Trial) -> None:
    """Positions with equal views of an agent, in any matches, have equal observations of it."""
    known: dict[str, Any] = {}
    for env in trial.positions():
        for agent in env.possible_agents:
            view = repr((agent, plain(env.unwrapped.view(agent)), plain(_ending(env, agent))))
            observation = plain(env.observe(agent))
            expect_equal(
                trial, known.setdefault(view, observation), observation, "the observation for this view", agent
            )


def observations_are_made_from_the_view_alone(trial: Trial) -> None:
    """A fresh environment makes the same observation from the view: it depends on nothing else."""
    fresh = trial.make().unwrapped
    if not isinstance(fresh, TextEnv):
        return
    for env in trial.positions():
        for agent in env.possible_agents:
            view, ending, observation = env.unwrapped.view(agent), _ending(env, agent), env.observe(agent)
            made: dict[str, Any]
            if "text" in observation:
                chat = plain(env.unwrapped.codec.chat(view))
                expect_equal(trial, plain(fresh.codec.chat(view)), chat, "the chat that the view alone gives", agent)
                text = fresh.codec.ending(view, ending) if ending else fresh.codec.observation(view)
                made = {"rules": fresh.codec.rules(agent), "text": text}
            else:
                made = {"observation": fresh.encode(view)}
            shown = {key: observation[key] for key in made}
            expect_equal(trial, plain(made), plain(shown), "what the view alone gives", agent)


def _ending(env: Any, agent: str) -> Ending | None:
    """Returns the end of the match as visible to an agent: its reward and the offenders."""
    return env.unwrapped.ending(agent) if isinstance(env.unwrapped, TextEnv) else None


def pending_moves_stay_hidden(trial: Trial) -> None:
    """In a simultaneous stage a pending move, legal or not, changes nothing for the other agents."""
    for env in trial.positions():
        if is_over(env) or len(agents_to_move(env)) < 2:
            continue
        mover = env.agent_selection
        before = {agent: seen for agent, seen in observations(env).items() if agent != mover}
        rng = np.random.default_rng([trial.seed or 0, trial.turn or 0])
        moves = [None, *(env.unwrapped.random_action(mover, rng) for _ in range(PENDING_TRIED - 1))]
        after = [_after(copy.deepcopy(env), move, mover) for move in moves]
        for position in after:
            expect_equal(trial, before, position["observations"], "the observations before the pending move", mover)
            expect_equal(trial, after[0], position, "the same after every pending move", mover)


def _after(env: Any, move: Any, mover: str) -> dict[str, Any]:
    """Returns everything that agents other than ``mover`` can learn after its move."""
    env.step(move)
    position = snapshot(env)
    position["views"] = {agent: plain(env.unwrapped.view(agent)) for agent in env.possible_agents if agent != mover}
    del position["observations"][mover]
    return position


RULES = (
    pending_moves_stay_hidden,
    equal_views_give_equal_observations,
    observations_are_made_from_the_view_alone,
)
