"""Loading of writer-editor tasks."""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from llmarena_envs import __version__
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.records import Record, file_records, given_records, json_records
from llmarena_envs.core.source import Source
from llmarena_envs.writer_editor.document_files import read_documents
from llmarena_envs.writer_editor.problem_files import read_problems
from llmarena_envs.writer_editor.task_types import Document, Problem

Tasks = str | Path | Sequence[Mapping[str, Any]] | None
"""The option ``tasks``: the shipped sample, the path of a file, or records."""

_OPTION = "tasks"
_COLUMNS = ("src", "tgt", "doc_id")


class Languages(NamedTuple):
    """Language filter for documents; empty matches any language."""

    source: str = ""
    target: str = ""


def load_problems(tasks: Tasks) -> tuple[Problem, ...]:
    """Returns the problems of the shipped sample, a user's file, or records of the same format.

    Raises:
        OptionError: naming the line, if a file or record does not match a format of ``problem_files``.
    """
    return shipped_problems() if tasks is None else read_problems(_records(tasks))


def load_documents(tasks: Tasks, languages: Languages) -> tuple[Document, ...]:
    """Returns the documents of a language pair; see ``load_problems``.

    Raises:
        OptionError: naming the line, if a file or record does not match ``document_files``, or if there is no document
            in these languages.
    """
    documents = shipped_documents() if tasks is None else read_documents(_records(tasks), *languages)
    source, target = languages
    chosen = tuple(
        document for document in documents if source in ("", document.src_lang) and target in ("", document.tgt_lang)
    )
    if not chosen:
        pairs = sorted({f"{document.src_lang} to {document.tgt_lang}" for document in documents})
        raise OptionError(
            f"src_lang, tgt_lang: expected languages of the documents ({', '.join(pairs)}), got {source!r} and {target!r}"
        )
    return chosen


@cache
def shipped_problems() -> tuple[Problem, ...]:
    """Returns the shipped problems, written for this project."""
    return read_problems(_shipped("problems.jsonl"))


@cache
def shipped_documents() -> tuple[Document, ...]:
    """Returns the shipped documents, written for this project."""
    return read_documents(_shipped("documents.jsonl"))


def task_source(tasks: Tasks, size: int, kind: str) -> Source:
    """Returns the source of tasks of a kind (``problems`` or ``documents``) for the record of a run."""
    if tasks is None:
        return Source(f"llmarena-envs ({kind})", __version__, "Apache-2.0", size)
    return Source(Path(tasks).name if isinstance(tasks, str | Path) else "records of the run file", "", "", size)


def _shipped(name: str) -> list[Record]:
    text = (resources.files("llmarena_envs.writer_editor") / "data" / name).read_text(encoding="utf-8")
    return list(json_records(text.split("\n"), f"{_OPTION}: {name}"))


def _records(tasks: str | Path | Sequence[Mapping[str, Any]]) -> list[Record]:
    if isinstance(tasks, str | Path):
        return list(file_records(_OPTION, tasks, _COLUMNS))
    return list(given_records(_OPTION, tasks))
