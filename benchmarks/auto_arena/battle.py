"""One battle with its committee, to read (Auto-Arena, arXiv 2405.20267v1, section 3, Figure 2).

Every debater takes part in at least one battle. A battle is written as Markdown, as plain text and as a page: all texts with
their speakers, the thoughts hidden from the opponent, and each judge's verdict before and after the discussion.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.auto_arena.pool import DEBATE, length_options, scripted
from benchmarks.auto_arena.stories import story_files, verdict_table
from benchmarks.experiments.case_studies import choose, plan_examples
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import unfinished
from benchmarks.options import option
from llmarena_envs.core.options import OptionError, check_choice, check_int
from llmarena_envs.debate.questions import DOMAINS
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig, PolicyConfig
from rating.errors import RunError
from rating.viewer.report.write import report_page

PLAYED = "battle"
DEBATERS = 2
JUDGES = 5


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row.

    Raises:
        OptionError: if an option has no valid value.
    """

    matches: int = option(1, "battles of each debater, at least")
    question: str = option("", "what the battle is about (default: a question that comes with the package)")
    domain: str = option("", "domain of the question, e.g. math (default: any); needed with --question")
    judge: tuple[str, ...] = option((), f"policies that judge (default: {JUDGES} scripted debaters who do not play)")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("matches", self.matches, 1, 1_000)
        if self.domain:
            check_choice("domain", self.domain, DOMAINS)
        elif self.question:
            raise OptionError(f"domain: expected that of the question, one of {', '.join(DOMAINS)}")


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a run with at least one battle of every debater."""
    pool = scripted(DEBATERS + JUDGES)[DEBATE]
    named = dict(entry.split("=", 1) for entry in pool[DEBATERS:])
    staff = [PolicyConfig(name=name, spec=spec, rated=False) for name, spec in named.items()]
    judges = list(options.judge or [policy.name for policy in staff])
    own = [{"id": "own", "domain": options.domain, "question": options.question}]
    environment = EnvironmentConfig(
        name=DEBATE,
        scheme="duels",
        options={
            "questions": own if options.question else "builtin",
            **({"domain": options.domain} if options.domain else {}),
            "language": options.language,
            **length_options(options),
            "n_judges": len(judges),
        },
        staff={"judge": judges},
    )
    config = plan_examples(options, [environment], options.matches, {DEBATE: pool[:DEBATERS]}, {DEBATE: 2})
    return {PLAYED: config.model_copy(update={"policy": [*config.policy, *(staff if not options.judge else [])]})}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the battles, and every judge's verdicts.

    Raises:
        RunError: if no battle has ended.
    """
    run = runs[PLAYED]
    records = choose(run.records(DEBATE), options.matches)
    if not records:
        raise RunError(f"{run.directory}: expected a battle with a verdict, but there is none")
    files, notes = story_files({f"match-{record.match.number}": record for record in records})
    chosen = {record.match.id for record in records}
    page = report_page(run.directory, "Battles before a committee", chosen)
    return Result(
        [verdict_table(records)], notes=[*notes, *unfinished(run.outcomes(DEBATE))], files={**files, "page.html": page}
    )


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return f"n = {options.matches} of each debater: examples, from which no rate follows"


ROW = Row(
    title="one battle with its committee: transcript and verdicts",
    source="Auto-Arena, section 3, Figure 2",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows=(
        "It shows a battle as it happened: every part of every turn, what the opponent could not see, each judge's verdict before"
        " and after the discussion. With --run it takes any run of debates."
    ),
    does_not_show="It does not show how good anybody is: a battle or two are no sample.",
    any_manner=True,
)
