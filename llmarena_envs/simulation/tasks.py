"""Simulation tasks and their files.

A file holds JSON lines or a table with ``act``, ``task_description``, ``request_type``, ``type`` and optionally ``id``,
``engine`` and ``language``; those without the last two are the fields of SimulBench's public file of tasks. A table of prompts,
with the columns ``act`` and ``prompt`` and optionally ``type``, is read too: the prompt is the description. Tasks without a
column ``type`` are stateful.

Source: SimulBench (arXiv 2409.07641, section 2.2).
"""

import json
import re
from collections.abc import Iterable
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from llmarena_envs import __version__
from llmarena_envs.core.options import check_choice, nearest
from llmarena_envs.core.records import Given, Imported, Record, RecordForm, json_records
from llmarena_envs.core.source import Source

BUILTIN = "builtin"
"""Name of the shipped tasks."""

LANGUAGES = ("en", "zh")
"""Languages of the shipped tasks."""

STATELESS = "stateless"
"""The type of a task whose requests do not depend on each other."""

STATEFUL = "stateful"
"""The type of a task with a state that requests change."""

TYPES = (STATELESS, STATEFUL)
"""The types of tasks."""

Tasks = Given
"""The option ``tasks``: ``builtin``, the path of a file, or records."""

_NOT_WORD = re.compile(r"[\W_]+")
_SPELLINGS = {"无状态": STATELESS, "有状态": STATEFUL}


class Task(NamedTuple):
    """A task.

    Attributes:
        act: name of the simulated system.
        task_description: its interface, the form of its answers, and the first request; the user's first turn.
        request_type: kind of the user's requests, e.g. ``a command with its arguments``; empty if unknown.
        type: one of ``TYPES``.
        id: its name in its file; the act if the file has none.
        engine: name of the engine that implements the description exactly; empty for none.
        language: language of the description.
    """

    act: str
    task_description: str
    request_type: str
    type: str
    id: str
    engine: str = ""
    language: str = "en"


_FORM: RecordForm[Task] = RecordForm(
    "tasks", "task", ("act", "task_description", "request_type", "type", "id", "engine", "language")
)


def load_tasks(source: Tasks, language: str = "en") -> tuple[Task, ...]:
    """Returns the shipped tasks, or tasks from a user's file or records.

    Args:
        source: ``builtin``, a file, or records.
        language: language of the shipped tasks, and default language of others.

    Raises:
        OptionError: naming file and line, if the source cannot be read, a field is missing or unusable, an id occurs twice, or
            there is no task.
    """
    if source == BUILTIN:
        return shipped_tasks(language)
    return _FORM.load(source, partial(_task, language=language))


def import_tasks(source: Given, language: str = "en") -> Imported[Task]:
    """Returns the valid tasks of a file or of records, and the reasons for refusing others; see ``load_tasks``."""
    return _FORM.imported(source, partial(_task, language=language))


@cache
def shipped_tasks(language: str) -> tuple[Task, ...]:
    """Returns the shipped tasks, written for this project."""
    check_choice("language", language, LANGUAGES)
    name = "tasks.jsonl" if language == "en" else f"tasks_{language}.jsonl"
    lines = (resources.files("llmarena_envs.simulation") / "data" / name).read_text(encoding="utf-8").split("\n")
    records = json_records(lines, f"{_FORM.option}: data/{name}")
    return _FORM.of_records(records, partial(_task, language=language))


def read_type(record: Record, default: str | None = None) -> str:
    """Returns the type named by a record, ignoring case and hyphens, e.g. ``stateless`` for ``State-less``."""
    text = record.text("type", default)
    word = _NOT_WORD.sub("", text).casefold()
    kind = _SPELLINGS.get(word, word)
    if kind not in TYPES:
        raise record.error(f"type: expected {STATELESS} or {STATEFUL}, got {text!r:.80}{nearest(word, TYPES)}")
    return kind


def write_tasks(tasks: Iterable[Task]) -> str:
    """Writes tasks as JSON lines for ``load_tasks``.

    The fields match the public file, with further ones for an engine or a language other than English.
    """
    lines = []
    for task in tasks:
        fields = {
            "id": task.id,
            "task_description": task.task_description,
            "request_type": task.request_type,
            "type": task.type,
            "act": task.act,
        }
        if task.engine:
            fields["engine"] = task.engine
        if task.language != "en":
            fields["language"] = task.language
        lines.append(json.dumps(fields, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def task_source(source: Tasks, language: str, size: int) -> Source:
    """Returns the source of the tasks, for the record of a run."""
    if source == BUILTIN:
        return Source(f"llmarena-envs (simulation tasks, {language})", __version__, "Apache-2.0", size)
    return Source(Path(source).name if isinstance(source, str | Path) else "records of the run file", "", "", size)


def _task(record: Record, language: str) -> Task:
    act = " ".join(record.text("act").split())
    is_prompt = "prompt" in record.fields and "task_description" not in record.fields
    may_lack_requests = is_prompt or record.fields.get("request_type") == ""  # a prompt has no request type
    return Task(
        act,
        record.text("prompt" if is_prompt else "task_description").strip(),
        " ".join(record.text("request_type", "" if may_lack_requests else None).split()),
        STATEFUL if is_prompt and "type" not in record.fields else read_type(record),
        record.name("id", act).strip(),
        record.text("engine", "").strip(),
        record.text("language", language).strip(),
    )
