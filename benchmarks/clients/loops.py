"""Loops that several libraries' users write."""

from typing import Any


def step_randomly(env: Any, steps: int) -> int:
    """Plays samples of the action spaces, with the mask where there is one, for some steps; returns the finished matches.

    The mask is looked for in the observation and in the info, as PettingZoo's documentation has it.
    """
    done = finished = 0
    while done < steps:
        env.reset(seed=finished)
        for number, agent in enumerate(env.possible_agents):
            env.action_space(agent).seed(steps + number)
        for agent in env.agent_iter():
            observation, _, termination, truncation, info = env.last()
            if termination or truncation:
                env.step(None)
                continue
            mask = info.get("action_mask")
            if mask is None and isinstance(observation, dict):
                mask = observation.get("action_mask")
            env.step(env.action_space(agent).sample(mask))
            done += 1
        finished += 1
    return finished
