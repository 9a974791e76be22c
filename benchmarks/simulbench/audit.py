"""The human audit: people rate a sample of judgements blind as reasonable, too high or too low.

A sheet is written with the judgements to read, without names of simulators or judges, in random order. Filled sheets
are given with ``--sheet``.

Source: SimulBench (arXiv 2409.07641, section 4.3): people found 83 of 100 judgements reasonable.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.records import Turn
from benchmarks.experiments.markdown import block, inline
from benchmarks.experiments.precision import kappa_remark, rate_precision
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.sheets import items_mark, opaque_id, read_sheet, write_sheet
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Cells, Column, Table, percent
from benchmarks.options import option
from benchmarks.simulbench.answers import RUN, Answered, ScriptOptions, answered, left_out, plan_answers
from benchmarks.simulbench.pool import SIMULATION
from llmarena_envs.core.options import OptionError, check_int
from rating.errors import RunError
from rating.stats.agreement import cohens_kappa, plurality
from rating.stats.estimates import Estimate, bounded_mean, rate_estimate
from rating.stats.results import staff_seats
from rating.store.records import PLAYED

OPINION = "opinion"
REASONABLE, HIGH, LOW = "reasonable", "too high", "too low"
OPINIONS = {
    **dict.fromkeys((REASONABLE, "r", "合理"), REASONABLE),
    **dict.fromkeys((HIGH, "high", "h", "偏高"), HIGH),
    **dict.fromkeys((LOW, "low", "l", "偏低"), LOW),
}
"""Opinions on a judgement, by the label in lower case."""

MOST = "most people"
DIVIDED = "divided"
"""Majority opinion in case of a tie."""

Opinions = Mapping[str, str]
"""A person's opinion on each judgement, by its id in the sheet."""


@dataclass(frozen=True, kw_only=True)
class Options(ScriptOptions):
    """Options of the row.

    Raises:
        OptionError: if an option has no valid value.
    """

    judgements: int = option(100, "judgements to look at, drawn by seed", smoke=6)
    sheet: tuple[str, ...] = option((), "sheets that were filled in, one for each person")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("judgements", self.judgements, 1, 10_000)
        for path in self.sheet:
            if not Path(path).is_file():
                raise OptionError(f"sheet: expected a file, but there is none: {path}")
        names = [Path(path).stem for path in self.sheet]
        if len(set(names)) < len(names) or MOST in names:
            raise OptionError(
                f"sheet: expected files of different names, one for each person and none {MOST!r}, got {names}"
            )


class Judgement(NamedTuple):
    """A judge's rating of an answer.

    Attributes:
        answer: the answer.
        judge: the judge.
        rating: 1 to 10.
        words: the judge's whole reply.
    """

    answer: Answered
    judge: str
    rating: float
    words: str


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns a sheet to fill in, and the share of judgements that people find reasonable in filled sheets."""
    run = runs[RUN]
    shown = sample(run, options)
    people: dict[str, Opinions] = {
        Path(path).stem: read_sheet(Path(path), OPINION, OPINIONS, shown) for path in options.sheet
    }
    everybody = dict(people)
    if len(people) > 1:
        given = {item: [said[item] for said in people.values()] for item in shown}
        everybody[MOST] = {
            item: plurality(Counter(label for label in labels if label is not None)) or DIVIDED
            for item, labels in given.items()
        }
    mark = items_mark(shown)
    tables = [audit_table(everybody, shown), judge_table(everybody, shown)]
    if len(people) > 1:
        tables.append(agreement_table(people))
    columns = ("simulation", "type", "turn", "rating")
    cells = {item: _cells(judgement) for item, judgement in shown.items()}
    text = "\n\n".join(_as_read(item, judgement) for item, judgement in shown.items())
    notes = [
        f"for people as auditors: read judgements-{mark}.md, write {REASONABLE}, {HIGH} or {LOW} into the column {OPINION} of"
        f" copies of sheet-{mark}.csv, and name these with --sheet",
        *left_out(run, answered(run), options),
    ]
    if len(shown) < options.judgements:
        notes.append(f"the run has {len(shown)} judgements only; {options.judgements} were asked for")
    return Result(
        tables,
        notes=notes,
        files={f"judgements-{mark}.md": f"# Judgements\n\n{text}\n"},
        sheets={f"sheet-{mark}.csv": write_sheet(cells, columns, OPINION)},
    )


def sample(run: PlayedRun, options: Options) -> dict[str, Judgement]:
    """Returns the sampled judgements by their ids in the sheet, in random order.

    Raises:
        RunError: if there are no judgements.
    """
    every = sorted(judgements(run), key=lambda item: item[0])
    if not every:
        raise RunError(f"{run.directory}: expected answers with a rating, but there is none")
    drawn = np.random.default_rng(options.seed).permutation(len(every))[: options.judgements].tolist()
    return {opaque_id(every[index][0]): every[index][1] for index in drawn}


def judgements(run: PlayedRun) -> Iterator[tuple[str, Judgement]]:
    """Yields the judgements of a run with a rating, each with a unique name."""
    answers = {answer.match: answer for answer in answered(run)}
    for record in run.records(SIMULATION, PLAYED):
        answer = answers[record.match.number]
        words = {turn.agent: _reply(turn) for turn in record.turns}
        assert record.outcome is not None
        for seat, (judge, rating) in zip(staff_seats(record.outcome), answer.ratings.items(), strict=True):
            if rating is not None:
                yield f"{record.match.id} {seat.agent}", Judgement(answer, judge, rating, words.get(seat.agent, ""))


def _reply(turn: Turn) -> str:
    return turn.attempts[-1].reply if turn.attempts else str(turn.action or "")


def reasonable(opinions: Opinions, shown: Mapping[str, Judgement], what: str = REASONABLE) -> Estimate | None:
    """Returns the share of judgements with an opinion, e.g. reasonable, with an interval clustered by task."""
    items = [item for item in shown if item in opinions]
    return bounded_mean(
        [float(opinions[item] == what) for item in items],
        [shown[item].answer.script.source_id for item in items],
    )


def audit_table(everybody: Mapping[str, Opinions], shown: Mapping[str, Judgement]) -> Table:
    """Returns how many judgements people find reasonable, and the direction of the others' errors."""
    published = load_published("benchmarks.simulbench")["audit"]
    number, share = (int(each or 0) for each in published.rows["people"])
    found = percent(rate_estimate(round(number * share / 100), number))
    assert found is not None
    rows: list[list[Cell]] = [["people of the paper", number, share, None, None, None, None, None]]
    for name, opinions in everybody.items():
        counts = Counter(opinions.values())
        wrong = rate_estimate(counts[HIGH], counts[HIGH] + counts[LOW])
        own = percent(reasonable(opinions, shown))
        rows.append([name, len(opinions), None, own, counts[HIGH], counts[LOW], counts[DIVIDED], percent(wrong)])
    return Table(
        "audit",
        "judgements that people find reasonable",
        [
            Column("who"),
            Column("judgements"),
            Column("reasonable, %", PUBLISHED, 0),
            Column("reasonable, %", MEASURED, 1),
            Column(HIGH, MEASURED),
            Column(LOW, MEASURED),
            Column(DIVIDED, MEASURED),
            Column("too high, % of the errors", MEASURED, 1),
        ],
        rows,
        [
            f"published: {published.source}, the share alone; Wilson's interval for {share} of {number} is"
            f" {found.low:.0f} to {found.high:.0f} %",
            "measured: intervals of the share are clustered by task; where people are divided most do not find it reasonable"
            if everybody
            else "nobody has looked yet: fill in the sheet",
        ],
    )


def judge_table(everybody: Mapping[str, Opinions], shown: Mapping[str, Judgement]) -> Table:
    """Returns the same for every judge in the sample."""
    rows: list[list[Cell]] = []
    for judge in dict.fromkeys(each.judge for each in shown.values()):
        own = {item: each for item, each in shown.items() if each.judge == judge}
        ratings = [each.rating for each in own.values()]
        if not everybody:
            rows.append([judge, "", len(own), float(np.mean(ratings)), None, None, None])
        for name, opinions in everybody.items():
            shares = [percent(reasonable(opinions, own, what)) for what in (REASONABLE, HIGH, LOW)]
            rows.append([judge, name, len(own), float(np.mean(ratings)), *shares])
    return Table(
        "judges",
        "the same by judge",
        [
            Column("judge"),
            Column("who"),
            Column("judgements"),
            Column("mean rating of these", MEASURED),
            *(Column(f"{what}, %", MEASURED, 1) for what in (REASONABLE, HIGH, LOW)),
        ],
        rows,
    )


def agreement_table(people: Mapping[str, Opinions]) -> Table:
    """Returns the agreement of every two people; all of them have the same judgements."""
    rows: list[Cells] = []
    for first, second in itertools.combinations(people, 2):
        items = list(people[first])
        found = cohens_kappa(*([people[name][item] for item in items] for name in (first, second)))
        rows.append(
            {
                Column("who"): f"{first} and {second}",
                Column("judgements"): found.n,
                Column("the same opinion, %", MEASURED, 1): percent(found.observed),
                Column("Cohen's kappa", MEASURED): found.kappa,
                Column("remark"): kappa_remark([found], "judgements"),
            }
        )
    return Table.of("agreement", "how people agree with each other", rows)


def _cells(judgement: Judgement) -> Sequence[str]:
    script = judgement.answer.script
    turns = sum(message.role == "user" for message in script.dialogue_history)
    return script.act, script.type, str(turns), f"{judgement.rating:g}"


def _as_read(item: str, judgement: Judgement) -> str:
    """Returns a judgement in Markdown: the dialogue, the answer, the rating and the judge's words."""
    script = judgement.answer.script
    parts = [f"## Judgement {item}", f"Simulation: {inline(script.act)} ({inline(script.type)})"]
    for message in script.dialogue_history:
        parts += [f"{message.role.capitalize()}:", block(message.content)]
    parts += ["The answer that is judged:", block(judgement.answer.response)]
    parts += [f"Rating: {judgement.rating:g} of 1 to 10. The judge's words:", block(judgement.words)]
    return "\n\n".join(parts)


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return f"n = {options.judgements} judgements to look at: {rate_precision(options.judgements)}"


ROW: Row[Options] = Row(
    title="the human audit: a blind sheet of judgements, how many people find reasonable, and which way the others err",
    source="SimulBench, section 4.3",
    options=Options,
    plan=plan_answers,
    measure=measure,
    precision=precision,
    shows="It shows how many judgements people find reasonable, and whether the others are too high or too low.",
    does_not_show=(
        "It does not show more than the people who were asked think, and nothing at all before anybody was asked. People who see"
        " a rating before they have one of their own find it reasonable more easily: see truth for what is right."
    ),
    any_manner=True,
)
