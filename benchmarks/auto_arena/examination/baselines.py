"""Scripted examiners: one with templates, one that reads a file, and three with different faults."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from agents.policy import ScriptedPolicy
from benchmarks.auto_arena.examination.case import QuestionRequest
from llmarena_envs.core.options import check_choice
from llmarena_envs.core.similarity import Seen
from llmarena_envs.debate.questions import load_questions

DRAWS = 10
"""Attempts per requested question."""


class Templates(ScriptedPolicy):
    """Fills templates of its domain with words drawn by seed, and redraws near-copies of its earlier questions."""

    def __call__(self, request: QuestionRequest) -> str:
        """Returns the requested number of questions, if its words allow so many different ones."""
        words = _templates(request.language)[request.domain]
        seen = Seen(request.accepted)
        texts: list[str] = []
        for _ in range(DRAWS * request.wanted):
            text = self._write(words)
            if len(texts) < request.wanted and text not in seen:
                seen.add(text)
                texts.append(text)
        return numbered(texts)

    def _write(self, words: dict[str, list[str]]) -> str:
        drawn = {name: self.choose(choices) for name, choices in words.items()}
        text = drawn.pop("sentences").format(**drawn)
        return text[0].upper() + text[1:]


class FromFile(ScriptedPolicy):
    """Gives the questions of a file, in its order, from the first question not accepted yet.

    Args:
        questions: the file, or ``builtin``.
    """

    def __init__(self, questions: str = "builtin") -> None:
        self._file = questions
        if questions != "builtin":
            load_questions(questions)

    def __call__(self, request: QuestionRequest) -> str:
        """Returns the requested number of questions, or fewer at the end of the file; after it, an earlier question again."""
        own = [each.text for each in load_questions(self._file, request.language) if each.domain == request.domain]
        given = {draft.text for draft in request.last}.union(request.accepted)
        fresh = [text for text in own if text not in given]
        return numbered((fresh or own[:1] or ["..."])[: request.wanted])


class Careless(Templates):
    """An examiner with a fault.

    Args:
        fault: ``few``: never more than three questions; ``same``: the same question repeatedly; ``answer``: an answer.
    """

    def __init__(self, fault: str = "few") -> None:
        check_choice("fault", fault, ("few", "same", "answer"))
        self._fault = fault

    def __call__(self, request: QuestionRequest) -> str:
        """Returns a faulty reply."""
        if self._fault == "few":
            return super().__call__(request._replace(wanted=min(3, request.wanted)))
        if self._fault == "same":
            first = next(iter(request.accepted), None) or self._write(_templates(request.language)[request.domain])
            return numbered([first] * request.wanted)
        return {"zh": "答案是四十二，因为六乘以七等于四十二。"}.get(
            request.language, "The answer is 42, since 6 times 7 is 42."
        )


BASELINES = {"templates": Templates, "examiner": FromFile, "careless": Careless}


def numbered(texts: list[str]) -> str:
    """Returns questions in the requested form."""
    return "\n".join(f"({number}). {text}" for number, text in enumerate(texts, start=1))


@cache
def _templates(language: str) -> dict[str, Any]:
    file = resources.files("benchmarks.auto_arena.examination") / "templates" / f"{language}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
