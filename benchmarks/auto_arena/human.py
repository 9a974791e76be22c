"""The human study: people judge a sample of debates blind, and distinguish real questions from generated ones.

Sheets are written with the debates to read, without names of players or verdicts, in random order; sides are called A and B as
for the judges. Filled sheets are given with ``--sheet`` and ``--question-sheet``.

Source: Auto-Arena (arXiv 2405.20267v4, appendix D) for questions, and the authors' repository, assets/human_eval, for verdicts.
"""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

from benchmarks.auto_arena.judges import AFTER, BEFORE, read_judgements
from benchmarks.auto_arena.pool import DEBATE
from benchmarks.auto_arena.question_stage import EXAMINED, question_notes
from benchmarks.auto_arena.tournaments import RUN, TournamentOptions, plan_tournament
from benchmarks.experiments.markdown import block, inline
from benchmarks.experiments.precision import kappa_remark, rate_precision
from benchmarks.experiments.replays import begun
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import unfinished
from benchmarks.experiments.sheets import items_mark, opaque_id, read_sheet, write_sheet
from benchmarks.experiments.tables import MEASURED, Cell, Cells, Column, Table, percent
from benchmarks.options import option
from llmarena_envs.core.options import OptionError, check_int
from llmarena_envs.debate.questions.files import load_questions
from rating.config.run_file import RunConfig
from rating.errors import RunError
from rating.judgements import FIRST, PREFERENCES, SECOND, TIE, Label
from rating.stats.agreement import cohens_kappa, plurality
from rating.stats.estimates import rate_estimate
from rating.store.records import Record

VERDICT = "verdict"
SOURCE = "source"
REAL, MADE = "real", "synthetic"
SOURCES = {**dict.fromkeys((REAL, "r", "真实"), REAL), **dict.fromkeys((MADE, "made", "s", "合成"), MADE)}
"""Origin of a question, by the label in lower case."""

VERDICTS = {"a": FIRST, "b": SECOND, **dict.fromkeys(("tie", "c", "平局", "平手"), TIE)}
"""Verdicts by the label in lower case."""

THOUGHT = "think"
MOST = "most people"

Verdicts = Mapping[str, Label | None]
"""A person's verdict on each debate, by its id in the sheet."""


@dataclass(frozen=True, kw_only=True)
class Options(TournamentOptions):
    """Options of the row.

    Raises:
        OptionError: if an option has no valid value.
    """

    battles: int = option(50, "debates to judge", smoke=3)
    sheet: tuple[str, ...] = option((), "sheets of verdicts that were filled in, one for each person")
    real: str = option("", "questions of real users, in the import format, to be told from those of the debates")
    question_sheet: tuple[str, ...] = option((), "sheets of questions that were filled in, one for each person")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("battles", self.battles, 1, 10_000)
        for path in (*self.sheet, *self.question_sheet):
            if not Path(path).is_file():
                raise OptionError(f"sheet: expected a file, but there is none: {path}")
        for name, paths in (("sheet", self.sheet), ("question_sheet", self.question_sheet)):
            names = [Path(path).stem for path in paths]
            if len(set(names)) < len(names):
                raise OptionError(f"{name}: expected files of different names, one for each person, got {names}")
        if self.question_sheet and not self.real:
            raise OptionError("question_sheet: expected the questions of real users with it, named with --real")


class Shown(NamedTuple):
    """A debate as shown to people.

    Attributes:
        match: number of the match.
        domain: of the question.
        question: the question.
        text: the whole debate in Markdown.
    """

    match: int
    domain: str
    question: str
    text: str


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns the tournament; checks the question file before play."""
    if options.real:
        load_questions(options.real, options.language)
    return {RUN: plan_tournament(options)}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns sheets to fill in, and the agreement of filled sheets with each other and with the committee."""
    run = runs[RUN]
    shown = sample(run, options)
    read = {Path(path).stem: read_sheet(Path(path), VERDICT, VERDICTS, shown) for path in options.sheet}
    people: dict[str, Verdicts] = {name: {item: said[item] for item in shown} for name, said in read.items()}
    if len(people) > 1:
        people[MOST] = {item: _decision([said[item] for said in people.values()]) for item in shown}
    decisions = committee(run, {item: debate.match for item, debate in shown.items()})
    tables = [agreement_table(people, decisions), verdict_table({**people, **decisions})]
    mark = items_mark(shown)
    sheets = {
        f"sheet-{mark}.csv": write_sheet(
            {item: (debate.domain, debate.question) for item, debate in shown.items()}, ("domain", "question"), VERDICT
        )
    }
    notes = [
        f"for people as judges: read debates-{mark}.md, write A, B or tie into the column {VERDICT} of copies of"
        f" sheet-{mark}.csv, and name these with --sheet",
        *question_notes(run),
        *unfinished(run.outcomes(DEBATE)),
    ]
    if options.real:
        asked = questions(shown, options)
        own = items_mark(asked)
        sheets[f"questions-{own}.csv"] = write_sheet(
            {item: (question,) for item, (question, _) in asked.items()}, ("question",), SOURCE
        )
        notes.append(
            f"the same of questions-{own}.csv with {REAL} or {MADE} in the column {SOURCE}, and --question-sheet"
        )
        said = {Path(path).stem: read_sheet(Path(path), SOURCE, SOURCES, asked) for path in options.question_sheet}
        tables.append(question_table(said, {item: source for item, (_, source) in asked.items()}))
    text = "\n\n".join([f"## Debate {item}\n\n{debate.text}" for item, debate in shown.items()])
    return Result(tables, notes=notes, files={f"debates-{mark}.md": f"# Debates\n\n{text}\n"}, sheets=sheets)


def sample(run: PlayedRun, options: Options) -> dict[str, Shown]:
    """Returns the debates to judge by their ids in the sheet, in random order.

    Raises:
        RunError: if there are no debates.
    """
    records = {record.match.id: record for record in run.records(DEBATE)}
    if not records:
        raise RunError(f"{run.directory}: expected finished debates, but there is none")
    names = sorted(records)
    drawn = np.random.default_rng(options.seed).permutation(len(names))[: options.battles].tolist()
    return {opaque_id(names[index]): as_shown(records[names[index]]) for index in drawn}


def as_shown(record: Record) -> Shown:
    """Returns a debate as shown to the judges before their verdicts, without thoughts.

    Raises:
        RunError: if the recorded moves are illegal.
    """
    env = begun(record.match)
    judge = next((agent for agent in env.possible_agents if agent.startswith("judge")), "")
    for turn in record.turns:
        if judge and env.view(judge).to_move and env.view(judge).stage == "judge":
            break
        if env.agent_selection != turn.agent or turn.action is None:
            raise RunError(f"match {record.match.id}: turn {turn.index} of {turn.agent} cannot have been played")
        env.step(turn.action)
    view = env.view(judge) if judge else None
    if view is None or view.stage != "judge":
        raise RunError(f"match {record.match.id}: expected a debate with judges")
    parts = [f"Question ({inline(view.domain)}):", block(view.question)]
    if view.reference:
        parts += ["An answer to compare with:", block(view.reference)]
    for passage in view.passages:
        if passage.action != THOUGHT:
            parts += [f"Round {passage.round}, {passage.side}, {passage.action}:", block(passage.text)]
    return Shown(record.match.number, view.domain, view.question, "\n\n".join(parts))


def committee(run: PlayedRun, matches: Mapping[str, int]) -> dict[str, Verdicts]:
    """Returns the committee's decision on each item, after its discussion and before it."""
    first: dict[str, list[Label | None]] = {}
    final: dict[str, list[Label | None]] = {}
    for one in read_judgements(run):
        first.setdefault(one.item, []).append(one.first)
        final.setdefault(one.item, []).append(one.final)
    return {
        f"committee {stage}": {item: _decision(said.get(f"match {number}", [])) for item, number in matches.items()}
        for stage, said in ((AFTER, final), (BEFORE, first))
    }


def _decision(labels: Sequence[Label | None]) -> Label | None:
    """Returns the most frequent label; a tie if several are equally frequent."""
    return plurality(Counter(label for label in labels if label is not None), tied=TIE)


def questions(shown: Mapping[str, Shown], options: Options) -> dict[str, tuple[str, str]]:
    """Returns equally many questions of real users and of the debates, in random order: text and origin by id."""
    made = list(dict.fromkeys(debate.question for debate in shown.values()))
    real = list(dict.fromkeys(question.text for question in load_questions(options.real, options.language)))
    rng = np.random.default_rng(options.seed)
    size = min(len(made), len(real))
    chosen = [(made[index], MADE) for index in rng.permutation(len(made))[:size].tolist()]
    chosen += [(real[index], REAL) for index in rng.permutation(len(real))[:size].tolist()]
    mixed = [chosen[index] for index in rng.permutation(len(chosen)).tolist()]
    return {opaque_id(f"{source} {text}"): (text, source) for text, source in mixed}


def agreement_table(people: Mapping[str, Verdicts], decisions: Mapping[str, Verdicts]) -> Table:
    """Returns the agreement of every two people, and of each with the committee; all verdicts in the same order."""
    everybody = {**people, **decisions}
    rows: list[list[Cell]] = []
    for first, second in itertools.combinations(everybody, 2):
        if (
            first in decisions or second == MOST
        ):  # the committee with itself, and people with a majority that includes them
            continue
        labels = [everybody[name].values() for name in (first, second)]
        found = cohens_kappa(*map(list, labels))
        weighted = cohens_kappa(*map(list, labels), weights="linear", order=PREFERENCES)
        rows.append(
            [
                f"{first} and {second}",
                found.n,
                percent(found.observed),
                found.kappa,
                weighted.kappa,
                kappa_remark([found], "debates"),
            ]
        )
    return Table(
        "agreement",
        "how people agree with each other and with the committee",
        [
            Column("who"),
            Column("debates that both judged"),
            Column("same verdict, %", MEASURED, 1),
            Column("Cohen's kappa", MEASURED),
            Column("weighted by steps", MEASURED),
            Column("remark"),
        ],
        rows,
        [
            "weighted: a tie instead of a side counts half as much as the other side"
            if rows
            else "nobody has judged yet: fill in the sheet"
        ],
    )


def verdict_table(verdicts: Mapping[str, Verdicts]) -> Table:
    """Returns the frequency of each verdict by rater."""
    rows: list[list[Cell]] = []
    for name, said in verdicts.items():
        counts = Counter(said.values())
        rows.append([name, *(counts[label] for label in PREFERENCES), counts[None]])
    return Table(
        "verdicts",
        "verdicts on the debates of the sheet",
        [Column("who"), *(Column(label) for label in ("A", "tie", "B", "none"))],
        rows,
    )


def question_table(said: Mapping[str, Mapping[str, str]], truth: Mapping[str, str]) -> Table:
    """Returns how often people recognise the origin of a question."""
    rows: list[Cells] = []
    for name, labels in said.items():
        right = sum(labels[item] == source for item, source in truth.items())
        taken = sum(labels[item] == REAL for item, source in truth.items() if source == MADE)
        made = sum(source == MADE for source in truth.values())
        rows.append(
            {
                Column("who"): name,
                Column("told right, %", MEASURED, 1): percent(rate_estimate(right, len(truth))),
                Column("p, that it was by chance", MEASURED, 4): binomtest(right, len(truth)).pvalue,
                Column("of the debates' questions taken for real, %", MEASURED, 1): percent(rate_estimate(taken, made)),
            }
        )
    return Table.of(
        "questions",
        "whether people tell real questions from those of the debates",
        rows,
        ["by chance half are told right; as many real questions as others were shown"],
    )


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return f"n = {options.battles} debates to judge: {rate_precision(options.battles)}"


ROW: Row[Options] = Row(
    title="the human study: blind sheets, and how people agree with each other and with the committee",
    source="Auto-Arena (arXiv 2405.20267v4), appendix D, and the authors' repository",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    preparation=EXAMINED,
    shows="It shows how far the committee decides as people do, beside how far people agree with each other.",
    does_not_show=(
        "It does not show more than the people who were asked think, and nothing at all before anybody was asked. Debates of"
        " scripted players are nothing to judge; name your own models with --policy."
    ),
    any_manner=True,
)
