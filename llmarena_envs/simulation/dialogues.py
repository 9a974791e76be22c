"""Dialogues: what users and simulators said to each other, their files, and the scripts that are taken from them.

A file holds JSON lines with the fields of scripts but ``turn_num``, and further ones of the task: ``request_type``, and
``engine`` and ``language`` where it has an engine or another language than English. A dialogue ends with an answer; a script
taken from it ends with a request.

Source: SimulBench (arXiv 2409.07641, sections 2.2 and 2.3).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from llmarena_envs.core.options import OptionError, check_int
from llmarena_envs.core.records import Imported, Record, Refuse, file_records, given_records, stop
from llmarena_envs.simulation.scripts import MAX_TURNS, Message, Script, known_task, read_messages
from llmarena_envs.simulation.tasks import Task, check_new_id, read_type

Dialogues = str | Path | Sequence[Mapping[str, Any]]
"""The path of a file, or records."""

_OPTION = "dialogues"
_COLUMNS = (
    "id",
    "source_id",
    "act",
    "task_description",
    "type",
    "source_file_name",
    "dialogue_history",
    "engine",
    "language",
)


class Dialogue(NamedTuple):
    """A dialogue.

    Attributes:
        id: its name in its file.
        source_id: the id of its task.
        act: the name of what is simulated.
        task_description: of the task.
        request_type: of the task; may be empty.
        type: of the task.
        source_file_name: which of the task's dialogues it is.
        dialogue_history: the messages, an even number: a request and an answer each turn.
        engine: of the task; empty for none.
        language: of the task.
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

    @property
    def turns(self) -> int:
        """Number of turns, a request and its answer."""
        return len(self.dialogue_history) // 2

    @property
    def task(self) -> Task:
        """The task, as far as it is known."""
        return Task(
            self.act, self.task_description, self.request_type, self.type, self.source_id, self.engine, self.language
        )


def load_dialogues(source: Dialogues, tasks: Sequence[Task] = ()) -> tuple[Dialogue, ...]:
    """Returns the dialogues of a file, or those of records in the same form.

    Args:
        source: the file or the records.
        tasks: known ones, as in ``scripts.load_scripts``.

    Raises:
        OptionError: naming file and line, if the source cannot be read, a field is missing or unusable, an id occurs twice, or
            there is no dialogue.
    """
    dialogues = tuple(read_dialogues(_records(source, stop), tasks))
    if not dialogues:
        raise OptionError(f"{_OPTION}: expected at least one dialogue, got none")
    return dialogues


def import_dialogues(source: Dialogues, tasks: Sequence[Task] = ()) -> Imported[Dialogue]:
    """Returns the good dialogues of a file or of records, and why the other ones are refused; see ``load_dialogues``.

    Raises:
        OptionError: if the file cannot be read.
    """
    refusals: list[OptionError] = []
    dialogues = read_dialogues(_records(source, refusals.append), tasks, refusals.append)
    return Imported(tuple(dialogues), tuple(refusals))


def read_dialogues(records: Iterable[Record], tasks: Sequence[Task] = (), refuse: Refuse = stop) -> list[Dialogue]:
    """Reads dialogues; see ``load_dialogues``.

    Args:
        records: of dialogues.
        tasks: known ones.
        refuse: is called with the error for a record that is no dialogue.
    """
    dialogues: list[Dialogue] = []
    places: dict[str, str] = {}
    for record in records:
        try:
            dialogue = _dialogue(record, tasks)
            check_new_id(record, dialogue.id, places)
        except OptionError as error:
            refuse(error)
        else:
            dialogues.append(dialogue)
    return dialogues


def write_dialogues(dialogues: Iterable[Dialogue]) -> str:
    """Returns dialogues as JSON lines, which ``load_dialogues`` reads."""
    return "".join(f"{json.dumps(dialogue_fields(each), ensure_ascii=False)}\n" for each in dialogues)


def dialogue_fields(dialogue: Dialogue) -> dict[str, Any]:
    """Returns the fields of a dialogue's record."""
    fields = dialogue._asdict() | {"dialogue_history": [message._asdict() for message in dialogue.dialogue_history]}
    usual = {"engine": "", "language": "en"}
    return {name: value for name, value in fields.items() if usual.get(name) != value}


def has_all_requests(dialogue: Dialogue) -> bool:
    """Says whether none of the user's requests is empty, as files demand it; answers may be."""
    return all(message.content.strip() for message in dialogue.dialogue_history[::2])


def extract_scripts(dialogue: Dialogue, turn: int) -> tuple[Script, ...]:
    """Returns the scripts of a dialogue whose first challenging turn is known.

    They are that turn and all later ones, each with the first ``2 * turn - 1`` messages, which end with its request; of a
    dialogue without a challenging turn the last one, with turn number 0. Ids are the dialogue's with the turn behind.

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


def _records(source: Dialogues, refuse: Refuse) -> Iterable[Record]:
    if isinstance(source, str | Path):
        return file_records(_OPTION, source, _COLUMNS, refuse)
    return given_records(_OPTION, source, refuse)
