"""The questions of a tournament: written by an examiner before it, taken from a file, or those that come with the package.

Source: Auto-Arena (arXiv 2405.20267, section 3.1).
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.registry import split_spec
from benchmarks.auto_arena import questions
from benchmarks.auto_arena.pool import DEBATE
from benchmarks.experiments.row import Preparation, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.options import option
from llmarena_envs.core.options import OptionError
from llmarena_envs.debate.game import Debate
from llmarena_envs.debate.questions import load_questions
from llmarena_envs.debate.questions.files import BUILTIN, write_questions
from rating.errors import RunError
from rating.records.environments import admit
from rating.records.outcome import FINISHED
from rating.running import places
from rating.running.run_file import RunConfig
from rating.schemes import cells
from rating.statistics.bounded import bounded_mean
from rating.statistics.results import duels

LEAST_DISTINCT = 0.9
"""Share of the questions asked for that an examiner must write without repeating itself."""

PUBLIC = "the questions are public: models may have been trained on them"


@dataclass(frozen=True, kw_only=True)
class QuestionOptions(RowOptions):
    """Options of a row that plays on questions.

    Raises:
        OptionError: if two of them exclude each other.
    """

    examiner: str = option("", "policy that writes the questions first, e.g. openai:MODEL (default: the packaged ones)")
    count: int = option(30, "questions of each domain that the examiner writes", smoke=4)
    public: tuple[str, ...] = option(
        (), "files of public questions, JSON lines or one a line: near-copies that the examiner writes are left out"
    )
    questions: str = option("", "file of questions to play on, e.g. one that an examiner has written")

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [f"--{name}" for name in ("examiner", "questions", "run") if getattr(self, name)]
        if len(given) > 1:
            raise OptionError(f"examiner, questions, run: expected one of them at most, got {' and '.join(given)}")
        if self.public and not self.examiner:
            raise OptionError(
                "public: expected an examiner whose questions are compared with it, named with --examiner"
            )


def plan_examination(options: QuestionOptions) -> dict[str, RunConfig]:
    """Returns the run in which the examiner works, if there is one."""
    if not options.examiner:
        return {}
    return questions.plan(
        questions.Options(
            policy=(options.examiner,),
            alone=True,
            count=options.count,
            chosen=1,
            public=options.public,
            language=options.language,
            seed=options.seed,
            workers=options.workers,
        )
    )


def take_questions(runs: Mapping[str, PlayedRun], options: QuestionOptions) -> QuestionOptions:
    """Writes the examiner's questions into the result directory, and returns options that name the file.

    Raises:
        RunError: if the examiner repeats itself.
    """
    run = runs[questions.RUN]
    ((examiner, examined),) = questions.examinations(run).items()
    found = questions.collected(examined, questions.read_public(options.public))
    wanted, distinct = sum(item.wanted for item in examined), len(found.questions)
    drafted, repeated, surplus = (
        sum(item.number(name) for item in examined) for name in ("drafted", "refused_repeated", "surplus")
    )
    repeated += found.repeated
    unusable = drafted - surplus - repeated - found.public - distinct
    count = (
        f"{distinct} of {wanted}; of {drafted} drafts {repeated} were repeated, {unusable} no usable questions and"
        f" {found.public} near-copies of public ones"
    )
    if distinct < LEAST_DISTINCT * wanted:
        raise RunError(
            f"examiner {examiner}: expected at least {100 * LEAST_DISTINCT:g} % distinct questions, got {count}. Nothing was"
            " debated; name another examiner, a higher temperature or a smaller --count, and another --out"
        )
    path = Path(f"{run.directory.parent}-questions.jsonl")
    path.write_text(write_questions(found.questions), encoding="utf-8", newline="\n")
    print(f"  {questions.RUN}: questions kept: {count}\nwrote {path}", file=sys.stderr if options.json else sys.stdout)
    return replace(options, examiner="", public=(), questions=str(path))


EXAMINED: Preparation[Any] = Preparation(plan_examination, take_questions)
"""Has the questions of a row written, where its options name an examiner."""


def records_to_play(options: QuestionOptions, count: int) -> list[dict[str, str]]:
    """Returns the questions that every pairing plays: the first of each domain, in the form that debates take.

    Args:
        options: of the row, which name a file.
        count: of a pairing.

    Raises:
        OptionError: if the file cannot be read, or has fewer.
    """
    given = load_questions(options.questions)
    if len(given) < count:
        raise OptionError(
            f"{options.questions}: expected {count} questions or more, one for each battle of a pairing, got {len(given)}; choose"
            f" --per-pairing {len(given)} or less"
        )
    chosen = [given[number] for number in Debate(given).numbers_by_turns()[:count]]
    fields = (
        {"domain": each.domain, "id": each.id, "question": each.text, "reference": each.reference} for each in chosen
    )
    return [{name: text for name, text in record.items() if text} for record in fields]


def question_notes(run: PlayedRun) -> list[str]:
    """Returns where the questions of debates come from, and how their author did if it plays."""
    options = run.config.options(DEBATE)
    given = options.get("questions")
    if given == BUILTIN and "question" not in options:
        return [f"{PUBLIC}; --examiner MODEL writes others first"]
    if not isinstance(given, list):
        return []
    examiner = examiner_of(run, [record["question"] for record in given])
    if not examiner:
        return [f"questions: {len(given)} of a file"]
    asked = split_spec(examiner)[0]
    own = [item.title for item in run.config.policy if split_spec(item.spec)[0] == asked]
    return [
        f"questions: {len(given)} written by {examiner}",
        *(note for title in own for note in advantage_notes(run, title)),
    ]


def examiner_of(run: PlayedRun, texts: Sequence[str]) -> str:
    """Returns the examiner whose recorded work stands beside a run and holds its questions; empty if there is none."""
    beside = run.directory.parent / questions.RUN
    if not places.has_store(beside):
        return ""
    admit([questions.EXAMINATION])
    recorded = PlayedRun(beside)
    if questions.EXAMINATION not in recorded.environments() or not recorded.statuses.get(FINISHED):
        return ""
    for examiner, examined in questions.examinations(recorded).items():
        if {*texts} <= {text for item in examined for text in item.kept}:
            return examiner
    return ""


def advantage_notes(run: PlayedRun, examiner: str) -> list[str]:
    """Returns how an examiner did on questions of its own, beside the others; nothing if it did not play."""
    own, others = [], []
    for duel in duels(run.outcomes(DEBATE)):
        for player, score in ((duel.first, duel.score), (duel.second, 1 - duel.score)):
            (own if player == examiner else others).append(score)
    if not own:
        return []
    return [
        f"{examiner} wrote the questions and plays: it has {cells.score(bounded_mean(own), 1)} % of the points of its"
        f" {len(own)} battles, the others {100 * sum(others) / len(others):.1f} % of theirs; the row selfenh tests whether an"
        " examiner gains on its own questions"
    ]
