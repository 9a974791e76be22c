"""PettingZoo's own tests, run over many seeds, and the parallel form played to the end."""

import contextlib
import io
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from pettingzoo.utils import BaseWrapper
from pettingzoo.utils.conversions import aec_to_parallel

from llmarena_envs.testing.transcript import expect_equal, plain
from llmarena_envs.testing.trial import Trial, is_over

with warnings.catch_warnings():
    # PettingZoo's tests import one of its games in a deprecated way.
    warnings.filterwarnings("ignore", "The old environment creation API", DeprecationWarning)
    from pettingzoo.test import api_test, parallel_api_test, render_test, seed_test

# PettingZoo's tests warn about observations that are not arrays, except for a list of its own environments, and about masks of
# agents without a choice; a board can be empty, and there can be only one action.
SPURIOUS_WARNINGS = (
    "Observation is not a NumPy array",
    ".*probably should be gymnasium.spaces",
    "Action mask numpy array is all zeros",
    "Action mask is a single number",
    "Observation numpy array is all zeros",
)


@contextlib.contextmanager
def _strict_and_quiet() -> Iterator[io.StringIO]:
    """Turns warnings into errors, except spurious ones, and captures the output."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as printed:
        warnings.simplefilter("error")
        for message in SPURIOUS_WARNINGS:
            warnings.filterwarnings("ignore", message=message)
        yield printed


class _Reseeded(BaseWrapper):
    """Adds a seed to resets without one: PettingZoo's API test does not set seeds."""

    def __init__(self, env: Any, first_seed: int) -> None:
        super().__init__(env)
        self._seeds = itertools.count(first_seed)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a match with the given seed or the next one."""
        super().reset(seed=next(self._seeds) if seed is None else seed, options=options)


def passes_the_api_test(trial: Trial) -> None:
    """``pettingzoo.test.api_test`` passes for every seed."""
    for seed in trial.seeds:
        trial.seed, env = seed, trial.make()
        for agent in env.possible_agents:
            env.action_space(agent).seed(seed)
        with _strict_and_quiet():
            api_test(_Reseeded(env, seed))


def passes_the_seed_test(trial: Trial) -> None:
    """``pettingzoo.test.seed_test`` passes."""
    with _strict_and_quiet():
        seed_test(trial.make)


def passes_the_render_test(trial: Trial) -> None:
    """``pettingzoo.test.render_test`` passes; ``human`` prints every position.

    A mode that needs a missing package is skipped, together with the modes listed after it.
    """
    with _strict_and_quiet() as printed, contextlib.suppress(DependencyNotInstalled):
        render_test(trial.make)
    trial.expect(printed.getvalue().strip(), "positions printed with render_mode='human'", "nothing")


def _make_parallel(trial: Trial) -> Any:
    if trial.parallel_env_fn is not None:
        return trial.parallel_env_fn(**trial.options)
    return aec_to_parallel(trial.make())


def _is_parallelizable(trial: Trial) -> bool:
    return bool(trial.make().metadata["is_parallelizable"])


def passes_the_parallel_api_test(trial: Trial) -> None:
    """``pettingzoo.test.parallel_api_test`` passes for every seed, if the environment is parallelizable."""
    for seed in trial.seeds if _is_parallelizable(trial) else ():
        trial.seed, env = seed, _make_parallel(trial)
        for agent in env.possible_agents:
            env.action_space(agent).seed(seed)
        with _strict_and_quiet():
            parallel_api_test(env)


def the_parallel_form_plays_the_same_match(trial: Trial) -> None:
    """The parallel form gives the same match as the environment, to its end, also if it is forfeited."""
    for seed in trial.seeds if _is_parallelizable(trial) else ():
        for forfeit in (False, True):
            _play_both(trial, seed, forfeit)


def _play_both(trial: Trial, seed: int, forfeit: bool) -> None:
    parallel, env, rng = _make_parallel(trial), trial.make(), np.random.default_rng(seed)
    env.reset(seed=seed)
    observed, infos = parallel.reset(seed=seed)
    trial.seed, trial.turn = seed, 0
    while not is_over(env):
        agents = env.possible_agents
        expect_equal(trial, plain({agent: env.observe(agent) for agent in agents}), plain(observed), "observations")
        expect_equal(trial, plain(env.infos), plain(infos), "infos")
        actions = {agent: env.unwrapped.random_action(agent, rng) for agent in agents}
        if forfeit:
            actions[agents[0]] = None
        earned = dict.fromkeys(agents, 0.0)
        for agent in agents:
            env.step(actions[agent])
            earned = {name: reward + env.rewards[name] for name, reward in earned.items()}
        observed, rewards, terminations, _, infos = parallel.step(actions)
        rewards = {agent: float(reward) for agent, reward in rewards.items()}
        expect_equal(trial, plain(earned), plain(rewards), "rewards of the stage")
        expect_equal(trial, plain(env.terminations), plain(terminations), "terminations")
        trial.turn += len(agents)
    expect_equal(trial, plain({agent: env.observe(agent) for agent in agents}), plain(observed), "last observations")
    expect_equal(trial, plain(env.infos), plain(infos), "last infos")
    trial.expect(not parallel.agents, "no agents in the parallel form after the end", parallel.agents)


RULES = (
    passes_the_api_test,
    passes_the_seed_test,
    passes_the_render_test,
    passes_the_parallel_api_test,
    the_parallel_form_plays_the_same_match,
)
