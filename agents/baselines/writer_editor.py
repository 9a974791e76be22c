"""Writers, editors and judges for the built-in tasks; other tasks are unknown to them.

A player seated as a judge abstains; a judge seated as a player plays like ``echo``.
"""

import re
from collections import Counter
from functools import cache

from agents.policy import ScriptedPolicy
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.options import OptionError, check_choice
from llmarena_envs.writer_editor.game import (
    CHANNELS,
    CODE_REVIEW,
    WRITE,
    Given,
    Scores,
    WriterEditorView,
    last_product,
)
from llmarena_envs.writer_editor.grammar import write_scores
from llmarena_envs.writer_editor.objective import PassRate
from llmarena_envs.writer_editor.pass_rate import find_pass_rate
from llmarena_envs.writer_editor.programs import write_program
from llmarena_envs.writer_editor.task_types import Document, Problem
from llmarena_envs.writer_editor.tasks import shipped_documents, shipped_problems
from llmarena_envs.writer_editor.text import ABSTENTION

_LONG_PROGRAM = 2_000
_GOOD = 0.99
_UNIT = re.compile(r"\s+|[\u3040-\u30ff\u4e00-\u9fff]|[^\s\u3040-\u30ff\u4e00-\u9fff]+")


@cache
def _problems() -> dict[str, Problem]:
    return {problem.text: problem for problem in shipped_problems()}


@cache
def _documents() -> dict[tuple[str, str], Document]:
    return {(document.src, document.tgt_lang): document for document in shipped_documents()}


def known_problem(view: WriterEditorView) -> Problem | None:
    """Returns the problem of a match if it is built in."""
    return _problems().get(view.assignment.text)


def known_document(view: WriterEditorView) -> Document | None:
    """Returns the document of a match if it is built in."""
    return _documents().get((view.assignment.text, view.assignment.tgt_lang))


def drafts_and_edits(view: WriterEditorView) -> tuple[list[str], list[str]]:
    """Returns the writer's texts and the editor's texts."""
    writer = CHANNELS[WRITE].sender
    drafts = [message.text for message in view.messages if role_of(message.sender) == writer]
    return drafts, [message.text for message in view.messages if role_of(message.sender) != writer]


class Echo(ScriptedPolicy):
    """Repeats its input: the question or source text as a writer, then the other's last text."""

    def __call__(self, view: WriterEditorView) -> str:
        """Returns a reply in the game's grammar."""
        role = role_of(view.agent)
        if role == "judge":
            return self.judge(view)
        drafts, edits = drafts_and_edits(view)
        text = self.write(view, drafts, edits) if role == "writer" else self.edit(view, drafts[-1])
        if not text:
            return f"{view.agent}:"
        return write_program(text) if role == "writer" and view.task == CODE_REVIEW else text

    def write(self, view: WriterEditorView, drafts: list[str], edits: list[str]) -> str:
        """Returns a program or a translation."""
        return edits[-1] if edits else view.assignment.text

    def edit(self, view: WriterEditorView, draft: str) -> str:
        """Returns a review of a program or a polished translation."""
        return draft

    def judge(self, view: WriterEditorView) -> str:
        """Returns scores, or the abstention word."""
        return ABSTENTION


class Fixer(Echo):
    """Writes a problem's known bug and fixes it when it is named; names it as a reviewer, then accepts.

    Args:
        skill: probability of fixing the bug when it is named, and of noticing it in a program, 0 to 1. A reviewer accepts if it
            does not notice the bug.
    """

    def __init__(self, skill: float = 1.0) -> None:
        self.skill = _probability("skill", skill)

    def write(self, view: WriterEditorView, drafts: list[str], edits: list[str]) -> str:
        """Returns the program with the bug, or without it once it was named."""
        problem = known_problem(view) if view.task == CODE_REVIEW else None
        if problem is None:
            return super().write(view, drafts, edits)
        if not drafts:
            return problem.buggy_code.rstrip()
        named = problem.bug in edits[-1] and self.rng.random() < self.skill
        return problem.code.rstrip() if named else drafts[-1]

    def edit(self, view: WriterEditorView, draft: str) -> str:
        """Returns a description of the bug, or the consensus token."""
        problem = known_problem(view) if view.task == CODE_REVIEW else None
        if problem is None:
            return super().edit(view, draft)
        seen = self.rng.random() < self.skill and draft != problem.code.rstrip()
        return problem.bug if seen else view.consensus_token


class Translator(Echo):
    """Writes the reference with some words left out, half of that rate when it edits.

    Args:
        noise: probability of leaving out a word, or a character of Chinese or Japanese, 0 to 1.
    """

    def __init__(self, noise: float = 0.1) -> None:
        self.noise = _probability("noise", noise)

    def write(self, view: WriterEditorView, drafts: list[str], edits: list[str]) -> str:
        """Returns the reference with words left out."""
        document = known_document(view)
        return super().write(view, drafts, edits) if document is None else self._without_some(document.tgt, self.noise)

    def edit(self, view: WriterEditorView, draft: str) -> str:
        """Returns the reference with fewer words left out."""
        document = known_document(view)
        return super().edit(view, draft) if document is None else self._without_some(document.tgt, self.noise / 2)

    def _without_some(self, text: str, share: float) -> str:
        units = _UNIT.findall(text)
        draws = self.rng.random(len(units))
        kept = "".join(unit for unit, draw in zip(units, draws, strict=True) if draw >= share or unit.isspace())
        return " ".join(kept.split(" ")).strip() or units[0]


class Judge(Echo):
    """Gives both roles a score."""

    def judge(self, view: WriterEditorView) -> str:
        """Returns the scores as JSON."""
        writer, editor = self.scores(view)
        return write_scores(Scores(Given(*writer), Given(*editor)), view.task)

    def scores(self, view: WriterEditorView) -> tuple[tuple[float, str], tuple[float, str]]:
        """Returns score and reason for the writer and for the editor."""
        raise NotImplementedError


class Rubric(Judge):
    """Scores by known solutions: the pass rate of a program, or the overlap of a text with the solution or reference.

    The pass rate of a program is used if a sandbox is available; else, as for a translation, the overlap of the text with the
    known one. Without either, only the presence of a text of usual length counts. A reviewer gets half of the score of the last
    program if nothing improved and the reviewer has not accepted a good program.

    Args:
        pass_rate: runs the tests; by default the available sandbox.
    """

    def __init__(self, pass_rate: PassRate | None = None) -> None:
        self.pass_rate = pass_rate or find_pass_rate()

    def scores(self, view: WriterEditorView) -> tuple[tuple[float, str], tuple[float, str]]:
        """Returns scores for the last draft and for the result of the match."""
        drafts, edits = drafts_and_edits(view)
        first, last = self.quality(view, drafts[0]), self.quality(view, drafts[-1])
        result = self.quality(view, last_product(view.task, drafts, edits, view.consensus))
        if view.task == CODE_REVIEW:
            useful = result > first or (view.consensus and result > _GOOD)
            result = result if useful else result / 2
        return _graded(last), _graded(result)

    def quality(self, view: WriterEditorView, text: str) -> float:
        """Returns the quality of a program or translation, 0 to 1."""
        if not text:
            return 0.0
        if view.task == CODE_REVIEW:
            problem = known_problem(view)
            if problem is None:
                return 0.5 if len(text) <= _LONG_PROGRAM else 0.25
            rate = self.pass_rate(text, problem) if self.pass_rate else None
            return overlap(text, problem.code) if rate is None else rate
        document = known_document(view)
        if document is None:
            return 0.5 if 0.2 < len(text) / len(view.assignment.text) < 5 else 0.25
        return overlap(text, document.tgt)


class Biased(Judge):
    """Always gives one role the best score and the other the worst.

    Args:
        role: the favoured role, ``writer`` or ``editor``.
    """

    def __init__(self, role: str = "writer") -> None:
        check_choice("role", role, ("writer", "editor"))
        self.role = role

    def scores(self, view: WriterEditorView) -> tuple[tuple[float, str], tuple[float, str]]:
        """Returns 10 and 1."""
        best, worst = (10.0, "favoured"), (1.0, "not favoured")
        return (best, worst) if self.role == "writer" else (worst, best)


class ByLength(Judge):
    """Scores by length: one more point for every 100 characters of a role's last text."""

    def scores(self, view: WriterEditorView) -> tuple[tuple[float, str], tuple[float, str]]:
        """Returns scores for both last texts."""
        lengths = [len(texts[-1]) for texts in drafts_and_edits(view)]
        writer, editor = ((min(10.0, 1.0 + length // 100), f"{length} characters") for length in lengths)
        return writer, editor


def overlap(text: str, other: str) -> float:
    """Returns the overlap of character trigrams of two texts (Dice's coefficient), 0 to 1."""
    first, second = (
        Counter(side[start : start + 3] for start in range(max(1, len(side) - 2))) for side in (text, other)
    )
    common = sum(min(count, second[run]) for run, count in first.items())
    return 2 * common / (first.total() + second.total())


def _graded(quality: float) -> tuple[float, str]:
    return round(1 + 9 * quality, 1), f"quality {quality:.2f} of 1"


def _probability(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise OptionError(f"{name}: expected a probability from 0 to 1, got {value!r}")
    return float(value)


BASELINES = {
    "echo": Echo,
    "fixer": Fixer,
    "translator": Translator,
    "rubric": Rubric,
    "biased": Biased,
    "by_length": ByLength,
}
