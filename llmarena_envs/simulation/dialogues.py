"""Dialogues of users and simulators, their files, and extraction of scripts.

A file holds JSON lines with the fields of scripts except ``turn_num``, and further ones of the task: ``request_type``, and
``engine`` and ``language`` if it has an engine or a language other than English. A dialogue ends with an answer; a script
taken from it ends with a request.

Source: SimulBench (arXiv 2409.07641, sections 2.3 and 2.4).
"""

import json
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from llmarena_envs.core.options import check_int
from llmarena_envs.core.records import Given, Imported, Record, RecordForm
from llmarena_envs.simulation.scripts import MAX_TURNS, Message, Script, known_task, read_messages
from llmarena_envs.simulation.tasks import Task, read_type


class Dialogue(NamedTuple):
    """A dialogue.

    Attributes:
        id: its name in its file.
        source_id: the id of its task.
        act: name of the simulated system.
        task_description: description of the task.
        request_type: request type of the task; can be empty.
        type: type of the task.
        source_file_name: name among the task's dialogues.
        dialogue_history: the messages, an even number: a request and an answer per turn.
        engine: engine of the task; empty for none.
        language: language of the task.
    """

    id: str
    source_id: str
    act: str
    task_description: str
    request_type: str
    type: str
    source_file_name: str
    dialogue_history: tuple[Message, ...]
    engine: str = ""
    language: str = "en"

    @classmethod
    def of_task(cls, task: Task, identity: str, name: str, messages: tuple[Message, ...]) -> "Dialogue":
        """Returns a dialogue on a known task, with its ``id``, ``source_file_name`` and messages."""
        return cls(
            identity,
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

    @property
    def turns(self) -> int:
        """Number of turns, a request and its answer."""
        return len(self.dialogue_history) // 2

    @property
    def task(self) -> Task:
        """The task, with its known fields."""
        return Task(
            self.act, self.task_description, self.request_type, self.type, self.source_id, self.engine, self.language
        )


_FORM: RecordForm[Dialogue] = RecordForm(
    "dialogues",
    "dialogue",
    (
        "id",
        "source_id",
        "act",
        "task_description",
        "type",
        "source_file_name",
        "dialogue_history",
        "engine",
        "language",
    ),
)


def load_dialogues(source: Given, tasks: Sequence[Task] = ()) -> tuple[Dialogue, ...]:
    """Returns the dialogues of a file or of records.

    Args:
        source: the file or the records.
        tasks: known tasks, as in ``scripts.load_scripts``.

    Raises:
        OptionError: naming file and line, if the source cannot be read, a field is missing or unusable, an id occurs twice, or
            there is no dialogue.
    """
    return _FORM.load(source, partial(_dialogue, tasks=tasks))


def import_dialogues(source: Given, tasks: Sequence[Task] = ()) -> Imported[Dialogue]:
    """Returns the valid dialogues of a file or of records, and the reasons for refusing others; see ``load_dialogues``."""
    return _FORM.imported(source, partial(_dialogue, tasks=tasks))


def write_dialogues(dialogues: Iterable[Dialogue]) -> str:
    """Writes dialogues as JSON lines for ``load_dialogues``."""
    return "".join(f"{json.dumps(dialogue_fields(each), ensure_ascii=False)}\n" for each in dialogues)


def dialogue_fields(dialogue: Dialogue) -> dict[str, Any]:
    """Returns the fields of a dialogue's record."""
    fields = dialogue._asdict() | {"dialogue_history": [message._asdict() for message in dialogue.dialogue_history]}
    usual = {"engine": "", "language": "en"}
    return {name: value for name, value in fields.items() if usual.get(name) != value}


def has_all_requests(dialogue: Dialogue) -> bool:
    """Returns whether all of the user's requests are non-empty, as required in files; answers can be empty."""
    return all(message.content.strip() for message in dialogue.dialogue_history[::2])


def extract_scripts(dialogue: Dialogue, turn: int) -> tuple[Script, ...]:
    """Extracts the scripts of a dialogue with a known first challenging turn.

    They are that turn and all later ones, each with the first ``2 * turn - 1`` messages, which end with its request; for a
    dialogue without a challenging turn the last one, with turn number 0. Ids are the dialogue's with the turn appended.

    Args:
        dialogue: the dialogue.
        turn: its first challenging turn, counted from 1; 0 for none.

    Raises:
        OptionError: if the dialogue has no such turn.
    """
    check_int("turn", turn, 0, dialogue.turns)
    numbers = range(turn, dialogue.turns + 1) if turn else [0]
    return tuple(
        Script(
            f"{dialogue.id}-{number}",
            dialogue.source_id,
            dialogue.act,
            dialogue.task_description,
            dialogue.type,
            dialogue.source_file_name,
            number,
            dialogue.dialogue_history[: 2 * (number or dialogue.turns) - 1],
        )
        for number in numbers
    )


def _dialogue(record: Record, tasks: Sequence[Task]) -> Dialogue:
    messages = read_messages(record, 2 * MAX_TURNS)
    if len(messages) % 2:
        raise record.error(
            f"dialogue_history: expected an even number of messages, the last of them an answer, got {len(messages)}"
        )
    known = known_task(record, tasks)
    return Dialogue(
        record.name("id").strip(),
        record.name("source_id", known.id if known else None).strip(),
        " ".join(record.text("act", known.act if known else None).split()),
        record.text("task_description", known.task_description if known else None).strip(),
        " ".join(record.text("request_type", known.request_type if known else "").split()),
        read_type(record, known.type if known else None),
        record.name("source_file_name").strip(),
        messages,
        record.text("engine", known.engine if known else "").strip(),
        record.text("language", known.language if known else "en").strip(),
    )
