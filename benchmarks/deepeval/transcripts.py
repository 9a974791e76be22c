"""Transcripts: matches of all four tasks to read (DeepEval, arXiv 2309.04369, Figures 5 to 9).

The paper shows a match or two of each task. The transcripts here include every policy at least once, the judges' scores with
their reasons, and every raw reply.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.deepeval.judged import SCRIPTED_JUDGES
from benchmarks.deepeval.pool import CODE_REVIEW, SCRIPTED, TRANSLATION
from benchmarks.experiments.case_studies import plan_examples, write_out
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.options import option
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig

PLAYED = "games"
TITLES = {
    "public_goods_v0": "public goods",
    "idiom_solitaire_v0": "idiom solitaire",
    CODE_REVIEW: "code review",
    TRANSLATION: "translation",
}
SEATS = {"public_goods_v0": 4, "idiom_solitaire_v0": 2, CODE_REVIEW: 2, TRANSLATION: 2}
"""Players per match, as in the paper."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    matches: int = option(1, "matches of each policy and task to write, at least")
    src_lang: str = option("de", "language of the source texts that are translated")
    tgt_lang: str = option("en", "language they are translated into")
    judge: tuple[str, ...] = option(
        (), f"policies that judge programs and translations (default: {' '.join(SCRIPTED_JUDGES)})"
    )


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a run with at least one match of every policy; with too few for a table, each plays with itself."""
    judges = options.judge or SCRIPTED_JUDGES
    settings: dict[str, dict[str, object]] = {
        "public_goods_v0": {},
        "idiom_solitaire_v0": {},
        CODE_REVIEW: {"task": "code_review", "n_judges": len(judges)},
        TRANSLATION: {
            "task": "translation",
            "src_lang": options.src_lang,
            "tgt_lang": options.tgt_lang,
            "n_judges": len(judges),
        },
    }
    tasks = [
        EnvironmentConfig(
            name=name,
            options={**own, "language": options.language},
            staff={"judge": list(judges)} if "n_judges" in own else {},
        )
        for name, own in settings.items()
    ]
    return {PLAYED: plan_examples(options, tasks, options.matches, SCRIPTED, SEATS)}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the transcripts, a list of them, and the report page of all matches."""
    return write_out(runs[PLAYED], TITLES, options.matches, "Transcripts of DeepEval's tasks")


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return f"n = {options.matches} of each policy and task: examples, from which no rate follows"


ROW = Row(
    title="transcripts of all four tasks, and a page on which to look at every match",
    source="DeepEval, Figures 5 to 9",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows=(
        "It shows what a player or judge is told, what it replies, what is played and what it earns, turn by turn. With --run it"
        " takes any run of these tasks."
    ),
    does_not_show="It does not show how good anybody is: a match or two are no sample.",
    any_manner=True,
)
