"""A row for the tests: who wins with the first move at tic-tac-toe."""

from dataclasses import dataclass

from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.tables import Table, beside, paired_columns
from benchmarks.options import option
from rating.config.run_tables import EnvironmentConfig
from rating.stats.estimates import rate_estimate
from rating.stats.results import finished

GAME = "tictactoe_v0"


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    matches: int = option(10, "matches of each policy", smoke=2)


def plan(options):
    environment = EnvironmentConfig(name=GAME, scheme="self_play", options={"hint": False})
    return {
        "games": plan_run(
            options, [environment], scripted={GAME: ("random", "first_legal")}, stop={"matches": options.matches}
        )
    }


def measure(runs, options):
    cases = {}
    for outcome in finished(runs["games"].outcomes(GAME)):
        cases.setdefault(outcome.seats[0].policy, []).append(outcome.seats[0].reward > 0)
    measured = {policy: rate_estimate(sum(wins), len(wins)) for policy, wins in cases.items()}
    rows = beside({"GPT-4": [0.5]}, {policy: [value] for policy, value in measured.items()}, options.published_as())
    table = Table("wins", "who wins", paired_columns(["wins"]), rows)
    return Result([table], {"shares": estimates(measured, "share of wins")}, ["a note"], {"note.txt": "a file\n"})


ROW = Row(
    title="who wins with the first move",
    source="An example, Table 1",
    options=Options,
    plan=plan,
    measure=measure,
    precision=lambda options: f"n = {options.matches}",
    shows="It shows what it shows.",
    does_not_show="It does not show the rest.",
)
