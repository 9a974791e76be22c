"""Shipped dialogues: ``data/dialogues/<task id>.toml``, with the right answer to every request.

Each request has the user's strategy and a difficulty. Scripts are extracted as in the paper, with the first request tagged
``challenging`` as the first challenging turn.

Source: SimulBench (arXiv 2409.07641, section 2.4).
"""

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from llmarena_envs.simulation.dialogues import Dialogue, extract_scripts
from llmarena_envs.simulation.scripts import ASSISTANT, USER, Difficulty, Message, Script
from llmarena_envs.simulation.tasks import LANGUAGES, Task, shipped_tasks


class Turn(NamedTuple):
    """A request and its right answer.

    Attributes:
        request: the request; in the first turn the description of the task.
        answer: the right answer.
        difficulty: difficulty of the request.
        strategy: the user's strategy, 1 to 4; 0 in the first turn.
    """

    request: str
    answer: str
    difficulty: Difficulty
    strategy: int


class ShippedDialogue(NamedTuple):
    """A shipped dialogue.

    Attributes:
        task: the task.
        number: number among the task's dialogues, from 1.
        turns: requests with their answers.
    """

    task: Task
    number: int
    turns: tuple[Turn, ...]

    @property
    def requests(self) -> tuple[str, ...]:
        """The requests."""
        return tuple(turn.request for turn in self.turns)

    @property
    def first_challenging(self) -> int:
        """Number of the first challenging turn, from 1; 0 if all are easy."""
        return next((number for number, turn in enumerate(self.turns, 1) if turn.difficulty == "challenging"), 0)

    @property
    def dialogue(self) -> Dialogue:
        """The dialogue without tags."""
        task = self.task
        name = f"{task.id}-{self.number}"
        messages = tuple(
            message for turn in self.turns for message in (Message(USER, turn.request), Message(ASSISTANT, turn.answer))
        )
        return Dialogue.of_task(task, name, name, messages)

    @property
    def scripts(self) -> tuple[Script, ...]:
        """The first challenging turn and all later ones; the last turn if all are easy."""
        scripts = []
        for script in extract_scripts(self.dialogue, self.first_challenging):
            turn = self.turns[script.turn_num - 1]  # number 0 is the last turn
            scripts.append(script._replace(strategy=turn.strategy, difficulty=turn.difficulty, reference=turn.answer))
        return tuple(scripts)


@cache
def shipped_dialogues(language: str) -> tuple[ShippedDialogue, ...]:
    """Returns the shipped dialogues of all tasks in a language."""
    folder = resources.files("llmarena_envs.simulation") / "data" / "dialogues"
    found = []
    for task in shipped_tasks(language):
        file = folder / f"{task.id}.toml"
        if file.is_file():
            given = tomllib.loads(file.read_text(encoding="utf-8"))["dialogue"]
            found += [
                ShippedDialogue(task, number, _turns(task, dialogue["turn"]))
                for number, dialogue in enumerate(given, 1)
            ]
    return tuple(found)


def shipped_scripts(language: str) -> tuple[Script, ...]:
    """Returns the scripts of all dialogues in a language."""
    return tuple(script for dialogue in shipped_dialogues(language) for script in dialogue.scripts)


def dialogues_beginning(requests: Sequence[str]) -> list[ShippedDialogue]:
    """Returns the dialogues, in any language, that begin with these requests; the first request is a task's description."""
    asked = [request.strip() for request in requests]
    same = _by_description().get(asked[0], [])
    return [each for each in same if [request.strip() for request in each.requests[: len(asked)]] == asked]


@cache
def _by_description() -> dict[str, list[ShippedDialogue]]:
    found: dict[str, list[ShippedDialogue]] = {}
    for language in LANGUAGES:
        for each in shipped_dialogues(language):
            found.setdefault(each.task.task_description, []).append(each)
    return found


def _turns(task: Task, turns: Sequence[dict[str, Any]]) -> tuple[Turn, ...]:
    return tuple(
        Turn(turn.get("request", task.task_description), turn["answer"], turn["difficulty"], turn.get("strategy", 0))
        for turn in turns
    )
