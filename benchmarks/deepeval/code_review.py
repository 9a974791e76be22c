"""Code review: programmers and reviewers, scored by judges, with unit tests beside (DeepEval, arXiv 2309.04369, Table 3).

Every pair of policies has both roles on the same problems. The paper uses the test split of MBPP; its file can be given with
``--tasks``. Judges score both roles; the tables also give the unit test results of the first and of the last program, and
how often a reviewer accepted a program that fails them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.records import Turn
from benchmarks.deepeval import matrices
from benchmarks.deepeval.judged import (
    TASKS,
    JudgedMatch,
    JudgedOptions,
    check_task,
    describe_size,
    judged_matches,
    known,
    plan_tasks,
)
from benchmarks.deepeval.judges import accuracy_picture, judge_notes, judge_tables, judges_of
from benchmarks.deepeval.matrices import Names, policies
from benchmarks.deepeval.pool import CODE_REVIEW
from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cells, Column, Table, percent
from benchmarks.options import option
from llmarena_envs.writer_editor.game import MAX_ROUNDS
from rating.config.run_file import RunConfig
from rating.stats.estimates import Estimate, bounded_mean, mean_estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TASK = {"task": "code_review"}
NAMES = Names("programmer", "reviewer")
FIRST, LAST = "pass_first", "pass_last"


@dataclass(frozen=True, kw_only=True)
class Options(JudgedOptions):
    """Options of the row."""

    sandbox: str = option(
        "auto", "what programs are run in: the first that works here, or one by name (docs/sandbox.md)"
    )


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns the run of all pairs."""
    return plan_tasks(options, CODE_REVIEW, {**TASK, "sandbox": options.sandbox})


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns scores in both roles, test results, and the quality of the judges."""
    run = runs[TASKS]
    check_task(run, CODE_REVIEW, TASK)
    matches = judged_matches(run, CODE_REVIEW)
    reviews = review_lengths(run)
    published = load_published("benchmarks.deepeval")

    def length(match: JudgedMatch, role: str) -> float:
        return match.writer.statistics["length"] if role == "writer" else reviews.get(match.number, 0)

    tables = [
        *matrices.score_tables(
            matches, NAMES, published["T3_code_review"], published["T3_code_review_means"], options.published_as()
        ),
        program_table(matches),
        consensus_table(matches),
        matrices.count_table(run, CODE_REVIEW, matches),
        *judge_tables(
            matches,
            NAMES,
            truth,
            length,
            [
                "what is known: the share of the problem's tests that the last program passes, for both roles",
                "length: characters of the last program, or of all that the reviewer said",
            ],
        ),
    ]
    figures = {
        "scores": matrices.mean_picture(matches, NAMES),
        **pass_picture(matches),
        **accuracy_picture(matches, NAMES, truth),
    }
    notes = judge_notes(judges_of(matches), policies(matches))
    if not any(tested(match) for match in matches):
        notes.append("no program was tested: there is no sandbox here, or tests were not asked for")
    return Result(tables, figures, notes)


def truth(match: JudgedMatch, role: str) -> float | None:
    """Returns the share of tests that the last program passes."""
    return known(match.writer, LAST)


def tested(match: JudgedMatch) -> bool:
    """Whether the test results of the first and the last program are known."""
    return not match.is_forfeited and all(known(match.writer, name) is not None for name in (FIRST, LAST))


def passes(match: JudgedMatch, which: str) -> bool:
    """Whether a program passes all tests."""
    return match.writer.statistics[which] >= 1


def pass_rate(matches: Sequence[JudgedMatch], which: str) -> Estimate | None:
    """Returns the share of programs that pass all tests, clustered by problem."""
    own = [match for match in matches if tested(match)]
    return bounded_mean([passes(match, which) for match in own], [match.task for match in own])


def passed_tests(matches: Sequence[JudgedMatch], which: str) -> Estimate | None:
    """Returns the mean share of tests that a program passes, clustered by problem."""
    own = [match for match in matches if tested(match)]
    return mean_estimate([match.writer.statistics[which] for match in own], [match.task for match in own], scale=(0, 1))


def change(matches: Sequence[JudgedMatch]) -> Estimate | None:
    """Returns the change of that share from the first to the last program."""
    own = [match for match in matches if tested(match)]
    gains = [float(passes(match, LAST)) - passes(match, FIRST) for match in own]
    return mean_estimate(gains, [match.task for match in own], scale=(-1, 1))


def false_consensus(matches: Sequence[JudgedMatch]) -> Estimate | None:
    """Returns the share of accepted programs that fail a test."""
    own = [match for match in matches if tested(match) and match.editor.statistics["consensus"] > 0]
    return bounded_mean([not passes(match, LAST) for match in own], [match.task for match in own])


def program_table(matches: Sequence[JudgedMatch]) -> Table:
    """Returns the test results of the programs, by programmer."""
    rows: list[Cells] = []
    for policy in policies(matches):
        own = [match for match in matches if match.writer.policy == policy]
        rows.append(
            {
                Column("programmer"): policy,
                Column("matches"): sum(map(tested, own)),
                **{
                    Column(f"{what} program passes all tests, %", MEASURED, 1): percent(pass_rate(own, which))
                    for which, what in ((FIRST, "first"), (LAST, "last"))
                },
                Column("change, points", MEASURED, 1): percent(change(own)),
                **{
                    Column(f"tests that the {what} one passes, %", MEASURED, 1): percent(passed_tests(own, which))
                    for which, what in ((FIRST, "first"), (LAST, "last"))
                },
            }
        )
    return Table.of(
        "programs",
        "what the problems' tests say of the programs, by programmer",
        rows,
        [
            "(n): programs; intervals are clustered by problem, and left out where problems are fewer than 6",
            "tests run in a sandbox; a program that cannot be run passes none",
        ],
    )


def consensus_table(matches: Sequence[JudgedMatch]) -> Table:
    """Returns how often reviewers accept programs, and failing ones."""
    rows: list[Cells] = []
    for policy in policies(matches):
        own = [match for match in matches if match.editor.policy == policy and not match.is_forfeited]
        accepted = [match.editor.statistics["consensus"] > 0 for match in own]
        tasks = [match.task for match in own]
        rows.append(
            {
                Column("reviewer"): policy,
                Column("programs accepted, %", MEASURED, 1): percent(bounded_mean(accepted, tasks)),
                Column("of these, failing a test, %", MEASURED, 1): percent(false_consensus(own)),
                Column("more programs pass all tests after review, points", MEASURED, 1): percent(change(own)),
                Column("rounds", MEASURED): mean_estimate(
                    [match.editor.statistics["rounds"] for match in own], tasks, scale=(1, MAX_ROUNDS)
                ),
            }
        )
    return Table.of(
        "consensus",
        "what reviewers accept",
        rows,
        [
            "accepted: the reviewer said the consensus token before the rounds were used up; (n): matches, or accepted programs"
        ],
    )


def pass_picture(matches: Sequence[JudgedMatch]) -> "Mapping[str, Figure]":
    """Draws the shares of programs that pass all tests; nothing if none was tested."""
    shares = {
        f"{policy}, {what} program": percent(
            pass_rate([match for match in matches if match.writer.policy == policy], which)
        )
        for policy in policies(matches)
        for which, what in ((FIRST, "first"), (LAST, "last"))
    }
    if not any(shares.values()):
        return {}
    return {"programs": estimates(shares, "programs that pass all tests, %, by programmer, with 95 % interval")}


def review_lengths(run: PlayedRun) -> dict[int, int]:
    """Returns the total characters of the reviewer's texts, by match."""
    return {
        record.match.number: sum(_length(turn) for turn in record.turns if turn.agent == "editor_0")
        for record in run.records(CODE_REVIEW)
    }


def _length(turn: Turn) -> int:
    return len(turn.played or "")


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return describe_size(plan(options)[TASKS], CODE_REVIEW)


ROW = Row(
    title="code review: scores of programmers and reviewers, tests passed before and after, and what the judges are worth",
    source="DeepEval, Table 3",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows=(
        "It shows how judges score every pair in both roles, whether review makes programs pass more tests, how often wrong"
        " programs are accepted, and whether the judges' scores follow the tests."
    ),
    does_not_show=(
        "It does not show who is the better programmer where only judges say so: read the scores with the table on judges. The"
        " scripted players know the shipped problems and their solutions, by_length is a judge that looks at nothing but length,"
        " and no prompt of the paper's is used."
    ),
    any_manner=True,
)
