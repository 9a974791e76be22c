"""The examiner's work: 30 questions in each of eight domains (Auto-Arena, arXiv 2405.20267v1, section 3.1).

Every policy drafts questions in every domain, ten at a time. A pairing uses the first five accepted questions of each domain: 40
questions. All accepted questions are written as a file for the option ``questions`` of ``debate_v0``.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from agents.registry import split_spec
from benchmarks.auto_arena.corpus_search import JSON_LINES, read_corpus
from benchmarks.auto_arena.examination.baselines import BASELINES
from benchmarks.auto_arena.examination.case import EXAMINER, Examination
from benchmarks.experiments.asking import Answer
from benchmarks.experiments.file_names import file_name
from benchmarks.experiments.jobs import Asked, Job
from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.pool import job_pool
from benchmarks.experiments.proportions import rate_of_counts
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import Played, PlayedRun
from benchmarks.experiments.tables import MEASURED, Column, Table, percent
from benchmarks.options import option
from llmarena_envs.core.options import OptionError, check_int
from llmarena_envs.core.similarity import NEAR, Seen
from llmarena_envs.debate.questions import DOMAINS, Question
from llmarena_envs.debate.questions.examiner import REASONS
from llmarena_envs.debate.questions.files import first_of_each_domain, write_questions
from rating.config.run_tables import PolicyConfig
from rating.errors import RunError
from rating.stats.estimates import Estimate

JOB = "examination"
STREAM = "benchmarks.auto_arena.examination.env"
"""Seeds the random draws; the published tables were made with it."""

SCRIPTED = {
    JOB: (
        "templates",
        "from_file=examiner",
        "few=careless:fault=few",
        "same=careless:fault=same",
        "answer=careless:fault=answer",
    )
}
SAMPLING = {"temperature": 0.7, "max_tokens": 3000}
"""Default options of a model that examines, as in the authors' code."""

MODELS = ("openai", "hf")
REPEATED = "question_repeated"
REASON_TITLES = {
    "question_empty": "empty",
    "question_short": "too short",
    "question_long": "too long",
    "question_answer": "answers",
    "question_asks_nothing": "asking nothing",
    "question_context": "referring to what is not there",
    "question_example": "the example",
    REPEATED: "repeated",
}
"""Names of reasons in tables."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    count: int = option(30, "questions of each domain", smoke=4)
    batch: int = option(10, "questions that are asked for at once", smoke=2)
    calls: int = option(3, "how often a batch is asked for at most")
    chosen: int = option(5, "questions of each domain that are used: the first ones that were kept", smoke=2)
    public: tuple[str, ...] = option(
        (), "files of public questions, JSON lines or one a line: near-copies of them are left out"
    )


Examined = Answer[Examination]
"""Work of an examiner in one domain."""


class Collected(NamedTuple):
    """The questions of an examiner.

    Attributes:
        questions: usable questions, with their own ids.
        repeated: number of near-copies of its questions in other domains.
        public: number of near-copies of public questions.
    """

    questions: tuple[Question, ...]
    repeated: int
    public: int


def ask(runs: Mapping[str, PlayedRun], options: Options) -> list[Job[Examination]]:
    """Returns the job of every examiner in every domain."""
    check_int("chosen", options.chosen, 1, options.count)
    read_public(options.public)
    cases = [
        Examination(domain, options.language, count=options.count, batch=options.batch, calls=options.calls)
        for domain in DOMAINS
    ]
    policies = job_pool(options, JOB, SCRIPTED)
    return [Job(JOB, EXAMINER, [with_sampling(each) for each in policies], cases, options.seed, BASELINES, STREAM)]


def with_sampling(examiner: PolicyConfig) -> PolicyConfig:
    """Returns an examiner with the paper's sampling, if it is a model and its spec has no sampling options."""
    name, own = split_spec(examiner.spec)
    if name.partition(":")[0] not in MODELS:
        return examiner
    missing = {key: value for key, value in SAMPLING.items() if key not in own}
    return examiner.model_copy(update={"options": {**missing, **examiner.options}})


def read_public(paths: Sequence[str]) -> list[str]:
    """Returns the questions of public sets: every text in a file of JSON lines, every line of another file.

    Raises:
        OptionError: if a file cannot be read.
    """
    texts = []
    for path in map(Path, paths):
        if not path.is_file():
            raise OptionError(f"public: expected a file of questions, but there is no file {str(path)!r}")
        whole = path.suffix.lower() in JSON_LINES
        for passage in read_corpus(path):
            texts += [passage.text] if whole else passage.text.splitlines()
    return texts


def measure(played: Played, options: Options) -> Result:
    """Returns the accepted questions, and the numbers of refused ones by reason."""
    asked: Asked[Examination] = played.asked[JOB]
    examined = examinations(asked)
    public = read_public(options.public)
    sets = {policy: collected(own, public) for policy, own in examined.items()}
    files: dict[str, str] = {}
    for policy, own in sets.items():
        if own.questions:
            name = file_name(policy, list(sets))
            used = [own.questions[number] for number in first_of_each_domain(own.questions, options.chosen)]
            files |= {f"{name}.jsonl": write_questions(own.questions), f"{name}-used.jsonl": write_questions(used)}
    return Result(
        [examiner_table(examined, options.chosen), reason_table(examined), domain_table(examined)],
        {
            "kept": estimates(
                {policy: percent(kept_share(own)) for policy, own in examined.items()},
                "questions kept, % of those asked for, with 95 % interval",
            )
        },
        notes=[
            *asked.notes(),
            *(
                f"{policy}: left out of the files as well: {own.repeated} near-copies from other domains,"
                f" {own.public} of public questions"
                for policy, own in sets.items()
                if own.repeated or own.public
            ),
        ],
        files=files,
    )


def examinations(asked: Asked[Examination]) -> Mapping[str, Sequence[Examined]]:
    """Returns every examiner's work, domain by domain.

    Raises:
        RunError: if no answer is complete.
    """
    if not asked.answers:
        raise RunError(f"{asked.path}: expected the questions of a domain, but none is complete")
    return asked.answers


def collected(examined: Sequence[Examined], public: Sequence[str] = ()) -> Collected:
    """Returns the questions of an examiner, domain by domain, without near-copies.

    Args:
        examined: its work in each domain.
        public: texts of public questions.
    """
    seen, known = Seen(), Seen(public)
    questions: list[Question] = []
    counts = Counter[str]()
    for item in examined:
        number = 0
        for text in item.accepted:
            kind = "repeated" if text in seen else "public" if text in known else ""
            counts[kind] += 1
            seen.add(text)
            if not kind:
                number += 1
                questions.append(Question(f"{item.case.name}-{number:02d}", item.case.name, text))
    return Collected(tuple(questions), counts["repeated"], counts["public"])


def kept_share(examined: Sequence[Examined]) -> Estimate | None:
    """Returns the share of the requested questions that were accepted, clustered by domain."""
    return rate_of_counts((len(item.accepted), item.case.count, item.case.name) for item in examined)


def refused_share(examined: Sequence[Examined], reasons: Collection[str]) -> Estimate | None:
    """Returns the share of all drafted questions that were refused for some reasons, clustered by domain."""
    return rate_of_counts(
        (sum(item.refused[reason] for reason in reasons), item.drafted, item.case.name) for item in examined
    )


def examiner_table(examined: Mapping[str, Sequence[Examined]], chosen: int) -> Table:
    """Returns the results of every examiner over all domains."""
    return Table.of(
        "examiners",
        "what became of the questions of every examiner, all domains together",
        [
            {
                Column("examiner"): policy,
                Column("calls", MEASURED): sum(item.calls for item in own),
                Column("asked for"): sum(item.case.count for item in own),
                Column("kept, % of those asked for", MEASURED, 1): percent(kept_share(own)),
                Column("drafted", MEASURED): sum(item.drafted for item in own),
                Column("repeated, % of those drafted", MEASURED, 1): percent(refused_share(own, [REPEATED])),
                Column("refused for other reasons, % of those drafted", MEASURED, 1): percent(
                    refused_share(own, [reason for reason in REASONS if reason != REPEATED])
                ),
                Column("used", MEASURED): sum(min(chosen, len(item.accepted)) for item in own),
            }
            for policy, own in examined.items()
        ],
        [
            f"used: the first {chosen} that were kept in each domain, in the file whose name ends in -used.jsonl",
            "intervals are clustered by domain",
        ],
    )


def reason_table(examined: Mapping[str, Sequence[Examined]]) -> Table:
    """Returns the number of refused questions of every examiner by reason."""
    return Table.of(
        "reasons",
        "number of questions by what became of them",
        [
            {
                Column("examiner"): policy,
                Column("drafted", MEASURED): sum(item.drafted for item in own),
                Column("kept", MEASURED): sum(len(item.accepted) for item in own),
                Column("more than were asked for", MEASURED): sum(item.surplus for item in own),
                **{
                    Column(REASON_TITLES[reason], MEASURED): sum(item.refused[reason] for item in own)
                    for reason in REASONS
                },
                Column("replies that held no question", MEASURED): sum(item.unreadable for item in own),
            }
            for policy, own in examined.items()
        ],
        [
            "repeated: the same letters and digits as a question that was kept, or nearly so (Jaccard's index of all runs of four"
            f" at least {NEAR})",
        ],
    )


def domain_table(examined: Mapping[str, Sequence[Examined]]) -> Table:
    """Returns the results of every examiner in each domain."""
    return Table.of(
        "domains",
        "questions by domain",
        [
            {
                Column("examiner"): policy,
                Column("domain"): item.case.name,
                Column("asked for"): item.case.count,
                Column("kept", MEASURED): len(item.accepted),
                Column("calls", MEASURED): item.calls,
                Column("drafted", MEASURED): item.drafted,
                Column("repeated", MEASURED): item.refused[REPEATED],
                Column("refused for other reasons", MEASURED): item.refused.total() - item.refused[REPEATED],
            }
            for policy, own in examined.items()
            for item in own
        ],
    )


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    calls = -(-options.count // options.batch)
    return (
        f"n = {options.count} questions of each examiner in each of {len(DOMAINS)} domains, in at least {calls} calls a domain;"
        f" a model writes about {100 * options.batch} tokens in each"
    )


ROW = Row(
    title="the examiner's work: questions in eight domains, what was kept of them and why the rest was not",
    source="Auto-Arena, section 3.1",
    options=Options,
    ask=ask,
    measure=measure,
    precision=precision,
    shows="It shows how many questions of an examiner can be put to somebody, and writes them in the form that debates take.",
    does_not_show=(
        "It does not show whether a question is good, difficult or likely in real life: only what can be seen for certain"
        " is checked. Models are asked at temperature 0.7 for at most 3,000 tokens, as in the authors' code, unless their"
        " spec says otherwise."
    ),
)
