"""PettingZoo's own tests and conversions."""

from typing import Any

from pettingzoo.test import (
    api_test,
    collect_render_results,
    parallel_api_test,
    parallel_seed_test,
    seed_test,
)
from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec, turn_based_aec_to_parallel

from benchmarks.clients.games import PARALLEL, TEXT, VECTOR, Make
from benchmarks.clients.loops import step_randomly
from benchmarks.clients.trials import Trial


def api(make: Make, smoke: bool) -> None:
    """The test of the AEC interface."""
    api_test(make(), num_cycles=50 if smoke else 500)


def seeds(make: Make, smoke: bool) -> None:
    """The test of seeds."""
    seed_test(make, num_cycles=50 if smoke else 500)


def render(make: Make, smoke: bool) -> None:
    """Renders after every step, in the mode ``ansi``."""
    assert all(isinstance(picture, str) for picture in collect_render_results(make(render_mode="ansi")))


def parallel_api(make: Make, smoke: bool) -> None:
    """The test of the parallel interface."""
    parallel_api_test(make(), num_cycles=50 if smoke else 500)


def parallel_seeds(make: Make, smoke: bool) -> None:
    """The test of seeds, with the parallel interface."""
    parallel_seed_test(make, num_cycles=50 if smoke else 500)


def there_and_back(make: Make, smoke: bool) -> None:
    """Converts a parallel environment to AEC and back."""
    parallel_api_test(aec_to_parallel(parallel_to_aec(make())), num_cycles=50)
    step_randomly(parallel_to_aec(make()), 50)


def turn_based(make: Make, smoke: bool) -> None:
    """Plays a turn-based environment through the parallel interface, which ignores the actions of all agents but one."""
    env = turn_based_aec_to_parallel(make())
    observations, _ = env.reset(seed=0)
    for _ in range(50):
        if not env.agents:
            observations, _ = env.reset()
        actions = {agent: _sample(env, agent, observations[agent]) for agent in env.agents}
        observations = env.step(actions)[0]


def _sample(env: Any, agent: str, observation: Any) -> Any:
    mask = observation.get("action_mask")
    return env.action_space(agent).sample(mask if mask is not None and mask.any() else None)


TRIALS = (
    Trial("api_test", VECTOR, api),
    Trial("api_test", TEXT, api),
    Trial("seed_test", VECTOR, seeds),
    Trial("seed_test", TEXT, seeds),
    Trial("collect_render_results", TEXT, render),
    Trial("parallel_api_test", PARALLEL, parallel_api),
    Trial("parallel_seed_test", PARALLEL, parallel_seeds),
    Trial("parallel_to_aec, aec_to_parallel", PARALLEL, there_and_back),
    Trial("turn_based_aec_to_parallel", VECTOR, turn_based),
)
