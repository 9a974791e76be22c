"""Dialogues and scripts to begin with, where no file is named: of a scripted user and a scripted simulator.

The first challenging turn is the first wrong answer, as scripted players know what is right. Tasks on the Python prompt are left
out, which would need a sandbox. The same language gives the same scripts.
"""

from functools import cache

from agents.baselines.simulation.simulators import Flawed
from agents.baselines.simulation.users import User
from agents.play import play
from agents.turn import TurnSettings
from benchmarks.simulbench.observation.observers import first_wrong
from llmarena_envs import simulation_v0
from llmarena_envs.simulation.dialogues import Dialogue, extract_scripts, has_all_requests
from llmarena_envs.simulation.scripts import ASSISTANT, USER, Message, Script
from llmarena_envs.simulation.tasks import Task, shipped_tasks

DIALOGUES = 3
"""Dialogues of each task, as in the paper."""

_FLAWS = 0.05
_SANDBOXED = "python"


@cache
def sample_dialogues(language: str) -> tuple[Dialogue, ...]:
    """Returns dialogues on all shipped tasks in a language but those that need a sandbox."""
    dialogues = (
        _played(task, language, number, repetition)
        for number, task in enumerate(shipped_tasks(language))
        if task.engine != _SANDBOXED
        for repetition in range(DIALOGUES)
    )
    return tuple(dialogue for dialogue in dialogues if has_all_requests(dialogue))


def sample_scripts(language: str) -> tuple[Script, ...]:
    """Returns the scripts that are taken from these dialogues."""
    return tuple(
        script for dialogue in sample_dialogues(language) for script in extract_scripts(dialogue, first_wrong(dialogue))
    )


def _played(task: Task, language: str, number: int, repetition: int) -> Dialogue:
    env = simulation_v0.env(number=number, n_judges=0, language=language)
    players = {"user_0": User(adversarial=0.05), "simulator_0": Flawed(stale=_FLAWS, omission=_FLAWS)}
    play(env, players, seed=number * DIALOGUES + repetition, settings=TurnSettings(unparsable="noop", illegal="noop"))
    messages = tuple(
        Message(USER if each.speaker == "user" else ASSISTANT, each.text) for each in env.unwrapped.game.messages
    )
    name = f"scripted-{repetition + 1}"
    return Dialogue(
        f"{task.id}-{repetition + 1}",
        task.id,
        task.act,
        task.task_description,
        task.request_type,
        task.type,
        name,
        messages,
        task.engine,
        task.language,
    )
