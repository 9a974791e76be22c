"""Convergence of ratings: TrueSkill's mu and sigma of every policy against its matches (LLMArena, arXiv 2402.16499).

The paper plays until ratings converge and does not define convergence. Here a game stops when no mu has changed by 0.25 over a
player's last 20 matches or every sigma is below 1, after at least 50 and at most 400 matches; the run file sets these numbers.

TrueSkill processes matches sequentially, so its ratings depend on their order. The tables show the size of this effect by rating
the same matches in other orders, and list Bradley-Terry ratings, which do not depend on the order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from benchmarks.experiments.pictures import axes, legend_columns, line_style, plain
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cells, Column, Table
from benchmarks.llmarena.ladder import (
    GAMES,
    PLAYED,
    bradley_terry_cell,
    bradley_terry_notes,
    game_options,
    leaderboards,
    stop_table,
)
from benchmarks.llmarena.pool import SCRIPTED
from benchmarks.options import option
from llmarena_envs.core.options import OptionError, check_int
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig, StopConfig
from rating.schemes.conditions import TRUESKILL
from rating.schemes.duels import skill_leaderboard
from rating.schemes.leaderboard import Leaderboard
from rating.stats.trueskill import MU, SIGMA, RatingStep, rate

BOARD_GAMES = ("tictactoe_v0", "connect_four_v0")


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    min_matches: int = option(50, "matches of each policy before a game can stop", smoke=20)
    max_matches: int = option(400, "matches of each policy after which no more is begun", smoke=40)
    orders: int = option(20, "random orders in which the matches are rated again, 20 to 1000")


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a run of both board games.

    Raises:
        OptionError: if an option has no valid value.
    """
    check_int("orders", options.orders, 20, 1000)
    config = plan_run(
        options,
        [EnvironmentConfig(name=game, options=game_options(game, options.language)) for game in BOARD_GAMES],
        scripted=SCRIPTED,
        stop={"rule": TRUESKILL, "min_matches": options.min_matches, "max_matches": options.max_matches},
    )
    return {PLAYED: config}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the course of the ratings in every rated game of the run.

    Raises:
        OptionError: if none of its games is rated by TrueSkill.
    """
    run = runs[PLAYED]
    boards = {
        game: skill_leaderboard(
            run.outcomes(game), stop_reason=board.stop_reason, permutations=options.orders, seed=options.seed
        )
        for game, board in leaderboards(run).items()
        if board.is_rated
    }
    if not boards:
        raise OptionError(f"{run.directory}: expected a run of games that are rated by TrueSkill, but there is none")
    stop = run.config.stop
    tables = []
    figures = {}
    for game, board in boards.items():
        history = rate(run.outcomes(game)).history
        tables.append(course_table(game, board, history, stop))
        if history:
            figures[game] = draw_course(GAMES[game], history, stop)
    return Result([stop_table(run, boards), *tables], figures)


def course_table(game: str, board: Leaderboard, history: Mapping[str, Sequence[RatingStep]], stop: StopConfig) -> Table:
    """Returns the final rating of every policy, and the number of its matches until the rating converged."""
    rows: list[Cells] = []
    for row in board.rows:
        spread = row.values["spread"]
        steps = history.get(row.policy, ())
        changes = mu_changes(steps, stop.window)
        rows.append(
            {
                Column("player"): row.policy,
                Column("matches", MEASURED): len(steps),
                Column("mu", MEASURED): row.values["mu"],
                Column("sigma", MEASURED): row.values["sigma"],
                Column(f"matches until sigma fell below {stop.sigma:g}", MEASURED): first_below(
                    [step.sigma for step in steps], stop.sigma
                ),
                Column(f"change of mu over the last {stop.window} matches", MEASURED): None
                if not changes or changes[-1] is None
                else changes[-1],
                Column(f"matches until that was first below {stop.eps:g}", MEASURED): first_below(changes, stop.eps),
                Column("and until it stayed below", MEASURED): last_below(changes, stop.eps),
                Column(f"mean of mu over {board.facts['orders']} orders", MEASURED): spread.mu if spread else None,
                Column(f"sd of mu over {board.facts['orders']} orders", MEASURED): spread.sd if spread else None,
                Column("Bradley-Terry rating, Elo", MEASURED, 0): bradley_terry_cell(row),
            }
        )
    return Table.of(
        game,
        f"{GAMES[game]}: ratings and after how many matches they stood",
        rows,
        [
            "empty: it has not come to that",
            "a game stops when one of the two conditions holds for every player at once, so later than for each alone",
            f"orders: the mean of all mu, which means nothing, is shifted to {MU:g} in each",
            "Bradley-Terry: mean 1000, with its 95 % interval (matches)",
            *bradley_terry_notes({game: board}),
        ],
    )


def mu_changes(steps: Sequence[RatingStep], window: int) -> list[float | None]:
    """Returns the change of mu over the last ``window`` matches after each match; ``None`` for the first ones."""
    mus = [MU, *(step.mu for step in steps)]
    return [None if index < window else abs(mus[index] - mus[index - window]) for index in range(1, len(mus))]


def first_below(values: Sequence[float | None], limit: float) -> int | None:
    """Returns the number, from 1, of the first value below a limit; ``None`` if no value is."""
    return next((number for number, value in enumerate(values, 1) if value is not None and value < limit), None)


def last_below(values: Sequence[float | None], limit: float) -> int | None:
    """Returns the number, from 1, of the first value after which all are below a limit; ``None`` if the last one is not."""
    number = len(values)
    while number and (value := values[number - 1]) is not None and value < limit:
        number -= 1
    return number + 1 if number < len(values) else None


def draw_course(title: str, history: Mapping[str, Sequence[RatingStep]], stop: StopConfig) -> Figure:
    """Draws mu and sigma of every policy after each of its matches."""
    columns = legend_columns(list(history))
    with axes(3.0 + 0.2 * -(-len(history) // columns), 2) as (figure, (left, right)):
        for index, (name, steps) in enumerate(history.items()):
            colour, line = line_style(index)
            mus, sigmas = [MU, *(step.mu for step in steps)], [SIGMA, *(step.sigma for step in steps)]
            left.plot(range(len(mus)), mus, label=plain(name), color=colour, linestyle=line, linewidth=1.2)
            right.plot(range(len(sigmas)), sigmas, color=colour, linestyle=line, linewidth=1.2)
        right.axhline(stop.sigma, color="black", linewidth=0.8, linestyle=(0, (1, 2)))
        right.annotate(f"limit {stop.sigma:g}", (0.02, stop.sigma), xycoords=("axes fraction", "data"), va="bottom")
        right.set_ylim(bottom=0)
        for field, quantity in ((left, "mu"), (right, "sigma")):
            field.set_ylabel(f"TrueSkill {quantity}")
            field.set_xlabel(f"matches of the player at {title}")
            field.grid(alpha=0.3)
        figure.legend(loc="outside lower center", ncols=columns, frameon=False)
    return figure


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return (
        f"n = {options.min_matches} to {options.max_matches} matches of each policy in each game, rated in {options.orders} more"
        " orders; with TrueSkill's standard drift no sigma falls below about 0.8, however much is played"
    )


ROW = Row(
    title="how TrueSkill's mu and sigma converge over the matches, and why a game stopped",
    source="LLMArena, ratings until TrueSkill converges; no figure of the paper",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows=(
        "It shows after how many matches ratings stand still, how certain TrueSkill claims to be, and how much of a rating is"
        " owed to the order of the matches. With --run it takes any run of rated games, that of t1 for instance."
    ),
    does_not_show=(
        "It does not show that the order of the players is right: ratings of close players stand still long before it is known"
        " who is better, and sigma knows nothing of how close they are."
    ),
    any_manner=True,
)
