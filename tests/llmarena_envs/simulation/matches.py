"""Matches of simulation_v0 that tests begin with."""

import json
from typing import Any

from llmarena_envs import simulation_v0
from tests.llmarena_envs.option_sets.simulation_v0 import SCRIPT, TASKS

TRUTH = '"London"'
"""The engine's answer to the first request of the first task in ``TASKS``."""


def started(seed: int = 0, **options: Any) -> simulation_v0.raw_env:
    """Returns an environment at its beginning, with a task on an engine unless the options say otherwise."""
    env = simulation_v0.raw_env(**{"tasks": TASKS, **({} if "task" in options else {"number": 0}), **options})
    env.reset(seed=seed)
    return env


def scripted(mode: str = "script", **options: Any) -> simulation_v0.raw_env:
    """Returns an environment with a script of two turns."""
    return started(mode=mode, scripts=[SCRIPT], **options)


def say(env: simulation_v0.raw_env, *replies: str) -> simulation_v0.raw_env:
    """Plays replies as a harness without re-asks does."""
    for reply in replies:
        env.step(env.parse(reply, env.agent_selection))
    return env


def asked(request: str, strategy: int = 2) -> str:
    """Returns a user's reply."""
    return json.dumps({"user": {"strategy": strategy, "request": request}})
