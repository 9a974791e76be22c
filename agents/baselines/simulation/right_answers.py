"""Correct answers for scripted policies: from the engine of a task, or from a shipped dialogue."""

import copy
from functools import lru_cache

from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.actions import USER, SimulationView
from llmarena_envs.simulation.engines import ENGINES
from llmarena_envs.simulation.engines.engine import Engine
from llmarena_envs.simulation.scripts import Difficulty
from llmarena_envs.simulation.shipped_dialogues import dialogues_beginning, shipped_dialogues
from llmarena_envs.simulation.tasks import Task
from llmarena_envs.simulation.truth import engine_of, first_request

ADVICE = (
    "scripted policies know right answers on tasks with an engine and in shipped dialogues only: use these, or a model"
)


def requests_in(view: SimulationView) -> tuple[str, ...]:
    """Returns the requests in the dialogue; the first one is the task description."""
    return tuple(message.text for message in view.messages if message.speaker == USER)


def right_answer(task: Task, requests: tuple[str, ...]) -> str:
    """Returns the correct answer to the last request.

    Args:
        task: the simulated task.
        requests: at least one; the first is the task description.

    Raises:
        OptionError: if neither an engine nor a shipped dialogue has it.
    """
    answer = known_answer(task, requests)
    if answer is None:
        raise OptionError(
            f"{task.act}: expected a request whose right answer is known, got {requests[-1]!r:.80}; {ADVICE}"
        )
    return answer


def known_answer(task: Task, requests: tuple[str, ...], skipped: int | None = None) -> str | None:
    """Returns the correct answer to the last request; ``None`` if it is unknown.

    Args:
        task: as above.
        requests: as above.
        skipped: index of a request to leave out; supported only by engines.
    """
    if has_engine(task):
        asked = (first_request(task), *requests[1:])
        if skipped is not None:
            asked = (*asked[:skipped], *asked[skipped + 1 :])
        return _answered(task, asked)[1]
    same = dialogues_beginning(requests) if skipped is None else ()
    return same[0].turns[len(requests) - 1].answer if same else None


def is_known(task: Task, requests: tuple[str, ...], turns: int = 0) -> bool:
    """Returns whether correct answers are known after some requests: by an engine, or a shipped dialogue of ``turns`` or more."""
    return has_engine(task) or any(len(each.turns) >= turns for each in dialogues_beginning(requests))


@lru_cache(maxsize=256)
def shipped_requests(task: Task, difficulty: Difficulty) -> tuple[str, ...]:
    """Returns later requests of the task's shipped dialogues, or of an English task on the same engine."""
    own = dialogues_beginning([task.task_description])
    same = own or [each for each in shipped_dialogues("en") if each.task.engine == task.engine != ""]
    turns = [turn for each in same for turn in each.turns[1:]]
    return tuple(dict.fromkeys(turn.request for turn in turns if turn.difficulty == difficulty))


@lru_cache(maxsize=256)
def has_engine(task: Task) -> bool:
    """Returns whether a task has an engine that this machine can run."""
    try:
        return task.engine in ENGINES and bool(first_request(task)) and engine_of(task) is not None
    except OptionError:
        return False


@lru_cache(maxsize=256)  # shared by the players of a match; each turn extends the previous one
def _answered(task: Task, requests: tuple[str, ...]) -> tuple[Engine | None, str]:
    """Returns the engine after some requests, and its answer to the last one."""
    if not requests:
        return engine_of(task), ""
    engine = copy.copy(_answered(task, requests[:-1])[0])
    return engine, engine.respond(requests[-1]) if engine else ""
