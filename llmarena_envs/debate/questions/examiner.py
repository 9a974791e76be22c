"""The examiner's prompt and the screening of drafted questions.

Source: Auto-Arena (arXiv 2405.20267v1, section 3.1).
The prompt neither says that the examiner takes part later nor asks for questions it could answer itself.
"""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.similarity import Seen
from llmarena_envs.debate.questions.checks import check_question

REASONS = (
    "question_empty",
    "question_short",
    "question_long",
    "question_answer",
    "question_asks_nothing",
    "question_context",
    "question_example",
    "question_repeated",
)
"""Names of the reasons for refusing a question."""


class Draft(NamedTuple):
    """An examiner's drafted question.

    Attributes:
        text: the question.
        refused: why it is refused, ``None`` if accepted.
    """

    text: str
    refused: Reason | None


@cache
def examiner_prompts(language: str) -> Prompts:
    """Returns the texts for an examiner: the prompt, and for each reason the text ``reason_<name>``."""
    return Prompts("llmarena_envs.debate.questions", language)


def examiner_prompt(domain: str, count: int, language: str) -> str:
    """Returns the examiner's prompt.

    Args:
        domain: one of ``DOMAINS``.
        count: number of questions, 1 or more.
        language: language of the texts and the questions.
    """
    texts = examiner_prompts(language)
    parts = {part: texts.render(f"{part}_{domain}") for part in ("domain", "command", "example")}
    return texts.render("examiner", count=count, **parts)


def screen(texts: Iterable[str], domain: str, language: str, known: Iterable[str] = ()) -> list[Draft]:
    """Checks drafted questions individually, against the example of the prompt, and against each other.

    Args:
        texts: the questions in order; the first of two near-duplicates is accepted.
        domain: the requested domain.
        language: the requested language.
        known: previously accepted questions.
    """
    example = Seen([examiner_prompts(language).render(f"example_{domain}")])
    seen = Seen(known)
    drafts = []
    for text in texts:
        refused = check_question(text)
        if refused is None and text in example:
            refused = Reason("question_example")
        if refused is None and text in seen:
            refused = Reason("question_repeated")
        if refused is None:
            seen.add(text)
        drafts.append(Draft(text, refused))
    return drafts
