"""The questions that debates are about."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from llmarena_envs.core.failures import Reason

DOMAINS = ("writing", "roleplay", "extraction", "reasoning", "math", "coding", "stem", "humanities")

Questions = str | Path | Sequence[Mapping[str, Any]]


class Question(NamedTuple):
    """A question."""

    id: str
    domain: str
    text: str
    reference: str = ""


def load_questions(source: Questions, language: str) -> tuple[Question, ...]:
    """Returns questions; a stand-in."""
    if not isinstance(source, str | Path):
        return tuple(
            Question(str(record["id"]), record["domain"], record["question"], record.get("reference", ""))
            for record in source
        )
    return tuple(Question(f"{domain}-1", domain, f"An example question in {domain}?") for domain in DOMAINS)


def read_questions(reply: str) -> list[str]:
    """Returns the numbered questions of a reply; a stand-in."""
    found = re.findall(r"^[ ]{0,4}\(?\d{1,3}\)?\.?[ ]+(\S[^\n]*)", reply, re.MULTILINE)
    return [text.strip() for text in found]


def check_question(text: str) -> Reason | None:
    """Says why a text is no question; a stand-in."""
    return None


def examiner_prompt(domain: str, count: int, language: str) -> str:
    """Returns what an examiner is asked; a stand-in."""
    return f"Write {count} question(s) in the domain {domain}, numbered (1). and so on."
