"""Input files of the steps: valid rows are kept, invalid ones refused with their position."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.records import Imported
from llmarena_envs.simulation.dialogues import Dialogue, import_dialogues
from llmarena_envs.simulation.labels import label_scripts
from llmarena_envs.simulation.scripts import Message, Script, import_scripts, task_of
from llmarena_envs.simulation.scripts import script_fields as fields_of
from llmarena_envs.simulation.shipped_dialogues import shipped_dialogues, shipped_scripts
from llmarena_envs.simulation.tasks import Task, import_tasks, shipped_tasks
from llmarena_envs.simulation.truth import check_engine

Row = TypeVar("Row")


class LabelledScript(NamedTuple):
    """A script with its label and task.

    Attributes:
        script: the script.
        label: its label in the file, as in ``llmarena_envs.simulation.labels``.
        task: its task, with the engine if it has one.
    """

    script: Script
    label: str
    task: Task


@lru_cache(maxsize=8)
def read_tasks(path: str, language: str) -> Imported[Task]:
    """Returns the tasks of a file; without a path the packaged ones.

    Raises:
        OptionError: if the file cannot be read, or has no valid row.
    """
    if not path:
        return Imported(shipped_tasks(language), ())
    return _checked(_with_engines(import_tasks(path, language), lambda task: task, path), "task", path)


@lru_cache(maxsize=8)
def read_dialogues(path: str, language: str) -> Imported[Dialogue]:
    """Returns the dialogues of a file; without a path the packaged ones.

    Raises:
        OptionError: if the file cannot be read, or has no valid row.
    """
    if not path:
        return Imported(tuple(each.dialogue for each in shipped_dialogues(language)), ())
    imported = import_dialogues(path, shipped_tasks(language))
    return _checked(_with_engines(imported, lambda dialogue: dialogue.task, path), "dialogue", path)


@lru_cache(maxsize=8)
def read_scripts(path: str, tasks: str, language: str) -> Imported[LabelledScript]:
    """Returns the scripts of a file with their labels and tasks; without a path the packaged ones.

    Args:
        path: of the scripts.
        tasks: path of the file with their tasks; by default the packaged ones. Without scripts it is not read.
        language: of the tasks.

    Raises:
        OptionError: if a file cannot be read, or has no usable row.
    """
    known = read_tasks(tasks if path else "", language)
    scripts = (
        _checked(import_scripts(path, known.rows), "script", path) if path else Imported(shipped_scripts(language), ())
    )
    labels = label_scripts(scripts.rows)
    rows = tuple(
        LabelledScript(script, label, task_of(script, known.rows) or _own_task(script, language))
        for script, label in zip(scripts.rows, labels, strict=True)
    )
    return Imported(rows, (*known.refusals, *scripts.refusals))


def refusal_notes(imported: Imported[Any]) -> list[str]:
    """Returns notes on the refused rows of a file, with reasons."""
    return [f"refused: {refusal}" for refusal in imported.refusals]


def script_fields(labelled: LabelledScript) -> dict[str, Any]:
    """Returns a script as in a run file: its fields, and its label."""
    return {**fields_of(labelled.script), "label": labelled.label}


def task_fields(task: Task) -> dict[str, Any]:
    """Returns a task as in a run file."""
    return task._asdict()


def script_of(fields: Mapping[str, Any]) -> Script:
    """Returns the script of a run file, whose fields were checked when the run began."""
    known = {name: fields[name] for name in Script._fields if name in fields}
    history = tuple(Message(each["role"], each["content"]) for each in fields["dialogue_history"])
    return Script(**known | {"dialogue_history": history})


def _own_task(script: Script, language: str) -> Task:
    """Returns the task of a script, from the fields of the script."""
    return Task(script.act, script.task_description, "...", script.type, script.source_id, "", language)


def _with_engines(imported: Imported[Row], task_of_row: Callable[[Row], Task], path: str) -> Imported[Row]:
    """Refuses rows with an unknown engine, or with a description that does not contain the engine's first request."""
    rows, refusals = [], list(imported.refusals)
    for row in imported.rows:
        try:
            check_engine(task_of_row(row))
        except OptionError as error:
            refusals.append(OptionError(f"{path}: {error}"))
        else:
            rows.append(row)
    return Imported(tuple(rows), tuple(refusals))


def _checked(imported: Imported[Row], what: str, path: str) -> Imported[Row]:
    if imported.rows:
        return imported
    found: Sequence[OptionError] = imported.refusals
    reason = f"; the first of {len(found)} refused rows: {found[0]}" if found else ", the file is empty"
    raise OptionError(f"{path}: expected at least one {what}, got none{reason}")
