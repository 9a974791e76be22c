"""What is right to answer, as players find it out from what they see."""

import copy
from functools import lru_cache

from agents.baselines.simulation.phrases import phrases_for
from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.actions import USER, SimulationView
from llmarena_envs.simulation.engines import ENGINES
from llmarena_envs.simulation.engines.engine import Engine
from llmarena_envs.simulation.tasks import Task
from llmarena_envs.simulation.truth import engine_of, first_request


def requests_in(view: SimulationView) -> tuple[str, ...]:
    """Returns what has been asked for, in order; the first request without the description, if an engine is asked it."""
    asked = tuple(message.text for message in view.messages if message.speaker == USER)
    return (_first_request(view.task) or asked[0], *asked[1:])


def right_answer(task: Task, requests: tuple[str, ...]) -> str:
    """Returns what the last of the requests is to be answered with: what the task's engine says, or the stand-in.

    Args:
        task: what is simulated.
        requests: at least one.
    """
    engine, answer = _answered(task, requests) if _first_request(task) else (None, "")
    return answer if engine else phrases_for(task).stand_in.format(act=task.act, number=len(requests))


@lru_cache(maxsize=256)
def _first_request(task: Task) -> str:
    """Returns what the task's engine is asked first; empty if no engine of ours stands behind it."""
    try:
        return first_request(task) if task.engine in ENGINES else ""
    except OptionError:
        return ""


@lru_cache(maxsize=256)  # all players of a match ask the same, and each turn goes on from the one before
def _answered(task: Task, requests: tuple[str, ...]) -> tuple[Engine | None, str]:
    """Returns the engine after some requests, and its answer to the last one."""
    if not requests:
        return engine_of(task), ""
    engine = copy.copy(_answered(task, requests[:-1])[0])
    return engine, engine.respond(requests[-1]) if engine else ""
