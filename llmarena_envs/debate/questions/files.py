"""Files of questions: JSON lines or a CSV table with ``domain``, ``id``, ``question`` and optionally ``reference``.

``reference`` is an answer for judges. An id can be an integer.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from llmarena_envs import __version__
from llmarena_envs.core.options import check_choice
from llmarena_envs.core.records import Given, Record, RecordForm, json_records
from llmarena_envs.core.source import Source
from llmarena_envs.debate.questions.domains import DOMAINS, read_domain

BUILTIN = "builtin"
"""Name of the shipped questions."""

LANGUAGES = ("en", "zh")
"""Languages of the shipped questions."""

Questions = Given
"""The option ``questions``: ``builtin``, the path of a file, or records."""


class Question(NamedTuple):
    """A question.

    Attributes:
        id: its name in its file.
        domain: one of ``DOMAINS``.
        text: the question's text.
        reference: reference answer for judges; empty for none.
    """

    id: str
    domain: str
    text: str
    reference: str = ""


_FORM: RecordForm[Question] = RecordForm("questions", "question", ("domain", "id", "question", "reference"))


def load_questions(source: Questions, language: str = "en") -> tuple[Question, ...]:
    """Returns the shipped questions, or questions from a user's file or records.

    Args:
        source: ``builtin``, a file, or records.
        language: language of the shipped questions.

    Raises:
        OptionError: naming file and line, if the source cannot be read, a field is missing or unusable, a domain is unknown,
            an id occurs twice, or there is no question.
    """
    if source == BUILTIN:
        return shipped_questions(language)
    return _FORM.load(source, _question)


@cache
def shipped_questions(language: str) -> tuple[Question, ...]:
    """Returns the shipped questions, written for this project."""
    check_choice("language", language, LANGUAGES)
    name = f"questions_{language}.jsonl"
    text = (resources.files("llmarena_envs.debate") / "data" / name).read_text(encoding="utf-8")
    return _FORM.of_records(json_records(text.split("\n"), f"{_FORM.option}: {name}"), _question)


def write_questions(questions: Iterable[Question]) -> str:
    """Writes questions as JSON lines for ``load_questions``."""
    lines = []
    for question in questions:
        fields = {"domain": question.domain, "id": question.id, "question": question.text}
        if question.reference:
            fields["reference"] = question.reference
        lines.append(json.dumps(fields, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def first_of_each_domain(questions: Sequence[Question], count: int = 5) -> list[int]:
    """Returns the indices of the first questions of every domain, domain by domain.

    Source: Auto-Arena (arXiv 2405.20267v1, section 4.1), with 5 of each of 8 domains for every pair of players.
    """
    numbers: dict[str, list[int]] = {domain: [] for domain in DOMAINS}
    for number, question in enumerate(questions):
        if len(numbers[question.domain]) < count:
            numbers[question.domain].append(number)
    return [number for own in numbers.values() for number in own]


def question_source(source: Questions, language: str, size: int) -> Source:
    """Returns the source of the questions, for the record of a run."""
    if source == BUILTIN:
        return Source(f"llmarena-envs (questions, {language})", __version__, "Apache-2.0", size)
    return Source(Path(source).name if isinstance(source, str | Path) else "records of the run file", "", "", size)


def _question(record: Record) -> Question:
    try:
        domain = read_domain(record.text("domain"))
    except ValueError as error:
        raise record.error(f"domain: {error}") from None
    return Question(
        record.name("id").strip(), domain, record.text("question").strip(), record.text("reference", "").strip()
    )
