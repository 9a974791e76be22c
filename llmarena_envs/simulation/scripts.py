"""Scripts: dialogues that end with a user's request for a simulator, and their files.

A file holds JSON lines with the fields of SimulBench's public file of scripts: ``id``, ``source_id`` (the task's id), ``act``,
``task_description``, ``type``, ``source_file_name`` (the task's dialogue), ``turn_num`` and ``dialogue_history``. The
shipped scripts also have ``strategy``, ``difficulty`` and ``reference``.

Source: SimulBench (arXiv 2409.07641, section 2.4).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

from llmarena_envs.core.options import nearest
from llmarena_envs.core.records import Given, Imported, Record, RecordForm
from llmarena_envs.core.similarity import essence
from llmarena_envs.simulation.tasks import Task, read_type

USER = "user"
"""The role of the user."""

ASSISTANT = "assistant"
"""The role of the simulator."""

Scripts = Given
"""The option ``scripts``: the path of a file, or records."""

Difficulty = Literal["easy", "challenging"]
"""The difficulty of a request."""

MAX_TURNS = 100
"""Maximum number of turns of a script."""

_ROLES = {
    **dict.fromkeys(("user", "human", "customer"), USER),
    **dict.fromkeys(("assistant", "simulator", "gpt", "chatgpt", "bot", "model", "ai"), ASSISTANT),
}
_ROLE_NAMES = ("role", "from")
_CONTENT_NAMES = ("content", "value")


class Message(NamedTuple):
    """A message of a dialogue.

    Attributes:
        role: ``USER`` or ``ASSISTANT``, alternating.
        content: the text; an answer can be empty.
    """

    role: str
    content: str


class Script(NamedTuple):
    """A script.

    Attributes:
        id: its name in its file.
        source_id: the id of its task.
        act: name of the simulated system.
        task_description: description of the task.
        type: type of the task.
        source_file_name: the source dialogue of the task.
        turn_num: number of the turn to answer, from 1; 0 for the last turn of a dialogue without a challenging
            turn.
        dialogue_history: the messages up to the last request.
        strategy: the user's strategy in the last request, 1 to 4; 0 if unknown.
        difficulty: difficulty of the last request; ``None`` if unknown.
        reference: the right answer; ``None`` if unknown.
    """

    id: str
    source_id: str
    act: str
    task_description: str
    type: str
    source_file_name: str
    turn_num: int
    dialogue_history: tuple[Message, ...]
    strategy: int = 0
    difficulty: Difficulty | None = None
    reference: str | None = None

    @property
    def requests(self) -> tuple[str, ...]:
        """The user's messages."""
        return tuple(message.content for message in self.dialogue_history[::2])


_FORM: RecordForm[Script] = RecordForm(
    "scripts",
    "script",
    ("id", "source_id", "act", "task_description", "type", "source_file_name", "turn_num", "dialogue_history"),
)


def load_scripts(source: Scripts, tasks: Sequence[Task] = ()) -> tuple[Script, ...]:
    """Returns the scripts of a user's file or of records.

    Args:
        source: the file or the records.
        tasks: known tasks; complete records without ``act``, ``task_description`` or ``type`` by id or act.

    Raises:
        OptionError: naming file and line, if the source cannot be read, a field is missing or unusable, an id occurs twice, a
            turn is missing, or there is no script.
    """
    return _FORM.load(source, partial(_script, tasks=tasks))


def import_scripts(source: Scripts, tasks: Sequence[Task] = ()) -> Imported[Script]:
    """Returns the valid scripts of a file or of records, and the reasons for refusing others; see ``load_scripts``."""
    return _FORM.imported(source, partial(_script, tasks=tasks))


def task_of(script: Script, tasks: Iterable[Task]) -> Task | None:
    """Returns the task of ``tasks`` with the script's source and wording, or ``None``."""
    words = essence(script.task_description)
    same = [task for task in tasks if task.act == script.act and essence(task.task_description) == words]
    return next((task for task in same if task.id == script.source_id), same[0] if same else None)


def write_scripts(scripts: Iterable[Script]) -> str:
    """Writes scripts as JSON lines for ``load_scripts``, with the public file's fields."""
    lines = []
    for script in scripts:
        lines.append(json.dumps(script_fields(script), ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def script_fields(script: Script) -> dict[str, Any]:
    """Returns the fields of a script's record, without unknown ones."""
    history = [message._asdict() for message in script.dialogue_history]
    fields = script._asdict() | {"dialogue_history": history}
    unknown = Script._field_defaults
    return {name: value for name, value in fields.items() if name not in unknown or value != unknown[name]}


def read_messages(record: Record, most: int) -> tuple[Message, ...]:
    """Returns the messages of a record's ``dialogue_history``, one to ``most``.

    Raises:
        OptionError: if it is not a list of alternating user and assistant messages, or is too long.
    """
    history = record.fields.get("dialogue_history")
    if not isinstance(history, Sequence) or isinstance(history, str | bytes) or not history:
        raise record.error(f"dialogue_history: expected a list of messages, got {history!r:.80}")
    if len(history) > most:
        raise record.error(f"dialogue_history: expected at most {most} messages, got {len(history)}")
    return tuple(_message(record, number, each) for number, each in enumerate(history, start=1))


def _script(record: Record, tasks: Sequence[Task]) -> Script:
    history = _history(record)
    known = known_task(record, tasks)
    return Script(
        record.name("id").strip(),
        record.name("source_id", known.id if known else None).strip(),
        " ".join(record.text("act", known.act if known else None).split()),
        record.text("task_description", known.task_description if known else None).strip(),
        read_type(record, known.type if known else None),
        record.name("source_file_name").strip(),
        _turn(record, len(history)),
        history,
        _strategy(record),
        _difficulty(record),
        record.text("reference", "") if record.fields.get("reference") is not None else None,
    )


def known_task(record: Record, tasks: Sequence[Task]) -> Task | None:
    """Returns the task that completes an incomplete record; ``None`` if the record is complete.

    Raises:
        OptionError: if the record is incomplete and no task has its ``source_id`` or ``act``.
    """
    missing = [name for name in ("source_id", "act", "task_description", "type") if not record.name(name, "")]
    if not missing:
        return None
    act = " ".join(record.text("act", "").split())
    source_id = record.name("source_id", "").strip()
    same = [task for task in tasks if act in ("", task.act) and (act or task.id == source_id)]
    if same:
        return next((task for task in same if task.id == source_id), same[0])
    hint = nearest(act or source_id, [task.act if act else task.id for task in tasks])
    raise record.error(
        f"expected {', '.join(missing)}, or the source_id or act of a known task, got source_id {source_id!r:.80}"
        f" and act {act!r:.80}{hint}"
    )


def _turn(record: Record, messages: int) -> int:
    value = record.fields.get("turn_num")
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_TURNS:
        raise record.error(f"turn_num: expected the number of a turn, from 1 to {MAX_TURNS}, or 0, got {value!r:.80}")
    if value and messages != 2 * value - 1:
        raise record.error(
            f"turn_num: expected {(messages + 1) // 2}, or 0, as dialogue_history ends with message {messages},"
            f" got {value}, whose request is message {2 * value - 1}"
        )
    return value


def _strategy(record: Record) -> int:
    value = record.fields.get("strategy")
    if value is None:
        return 0
    if isinstance(value, bool) or value not in range(5):
        raise record.error(f"strategy: expected a number from 1 to 4, or 0 if unknown, got {value!r:.80}")
    return int(value)


def _difficulty(record: Record) -> Difficulty | None:
    value = record.fields.get("difficulty")
    for known in get_args(Difficulty):
        if value == known:
            return known
    if value is None:
        return None
    raise record.error(f"difficulty: expected easy or challenging, got {value!r:.80}")


def _history(record: Record) -> tuple[Message, ...]:
    messages = read_messages(record, 2 * MAX_TURNS - 1)
    if len(messages) % 2 == 0:
        raise record.error(
            f"dialogue_history: expected an odd number of messages, the last of them the user's request, got {len(messages)}"
        )
    return messages


def _message(record: Record, number: int, message: object) -> Message:
    """Reads a message: an object with role and content, or a text; its role then follows from its number, from 1."""
    where = f"dialogue_history, message {number}"
    role = USER if number % 2 else ASSISTANT
    if isinstance(message, Mapping):
        named = _named(message, _ROLE_NAMES)
        if not isinstance(named, str) or _ROLES.get(named.strip().casefold()) != role:
            raise record.error(
                f"{where}: expected role {role!r}, as user and assistant speak by turns, got {named!r:.80}"
            )
        message = _named(message, _CONTENT_NAMES)
    content = "" if message is None and role == ASSISTANT else message
    if not isinstance(content, str) or (role == USER and not content.strip()):
        raise record.error(f"{where}: expected a text, got {content!r:.80}")
    return Message(role, record.checked(where, content))


def _named(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((fields[name] for name in names if name in fields), None)
