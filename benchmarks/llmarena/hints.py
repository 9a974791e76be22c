"""Effect of the list of legal moves: self-play with and without it (LLMArena, arXiv 2402.16499, Table 2).

Every policy plays itself at both board games, with the legal moves listed in its prompt and without, on the same seeds. As in the
paper a parsed but illegal reply ends the match at once (preset ``llmarena``).

The paper defines neither rate for self-play. Here the error rate is the share of matches ended by an illegal move, the win rate
the share won by the first player with a line.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.precision import rate_precision
from benchmarks.experiments.proportions import paired_change, rate_of_counts
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cell, Cells, Column, Table, beside, paired_columns, percent
from benchmarks.llmarena.self_play import by_policy
from benchmarks.options import option
from llmarena_envs.core.failures import Failure
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.stats.estimates import Estimate, rate_estimate
from rating.store.records import Outcome

GAMES = {"tictactoe_v0": "tic-tac-toe", "connect_four_v0": "connect four"}
READER = "reader=benchmarks.llmarena.players:Reader"
SCRIPTED = dict.fromkeys(GAMES, ("random", "greedy", "minimax", READER))
HINT, NO_HINT = "hint", "no_hint"
ILLEGAL = Failure.ILLEGAL.name.lower()


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    matches: int = option(100, "matches of each policy with itself, in each game and with each prompt", smoke=4)
    random_opening: int = option(0, "random plies before play; the paper has none")


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a run with the list of legal moves and one without."""
    return {
        name: plan_run(
            options,
            [
                EnvironmentConfig(
                    name=game,
                    scheme="self_play",
                    options={"hint": hint, "random_opening": options.random_opening, "language": options.language},
                )
                for game in GAMES
            ],
            scripted=SCRIPTED,
            stop={"matches": options.matches},
            preset="llmarena",
        )
        for name, hint in ((HINT, True), (NO_HINT, False))
    }


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns win and error rates of both prompts, and the effect of the list."""
    published = load_published("benchmarks.llmarena")["T2_spatial"]
    tables, figures = [], {}
    for game, title in GAMES.items():
        if any(game not in run.environments() for run in runs.values()):
            continue
        cases = {name: by_policy(run.outcomes(game)) for name, run in runs.items()}
        policies = [policy for policy in cases[HINT] if policy in cases[NO_HINT]]
        measured: dict[str, Sequence[Cell]] = {
            policy: [
                share(cases[name][policy], event) for event in (is_first_win, is_error) for name in (HINT, NO_HINT)
            ]
            for policy in policies
        }
        own = [index for index, column in enumerate(published.columns) if column.startswith(title)]
        theirs = {model: [numbers[index] for index in own] for model, numbers in published.rows.items()}
        headings = ("wins, %", "wins without list, %", "errors, %", "errors without list, %")
        tables.append(
            Table(
                game,
                f"{title}: self-play with and without the list of legal moves",
                paired_columns(headings, 1),
                beside(theirs, measured, options.published_as()),
                [
                    "wins: matches that the first player won by a line; errors: matches that an illegal move ended",
                    f"published: {published.source}",
                    *published.notes,
                ],
            )
        )
        tables.append(change_table(game, title, cases, policies))
        figures[f"{game}-errors"] = estimates(
            {
                f"{policy}, {label}": share(cases[name][policy], is_error)
                for policy in policies
                for name, label in ((HINT, "with list"), (NO_HINT, "without"))
            },
            f"{title}: matches ended by an illegal move, %, with 95 % interval",
        )
    return Result(tables, figures)


def change_table(
    game: str, title: str, cases: Mapping[str, Mapping[str, Sequence[Outcome]]], policies: Sequence[str]
) -> Table:
    """Returns the effect of leaving the list out, paired by the seed of the match, with further statistics of these matches."""
    rows: list[Cells] = []
    for policy in policies:
        both = {"with list": cases[HINT][policy], "without": cases[NO_HINT][policy]}
        with_list, without = both.values()
        rows.append(
            {
                Column("player"): policy,
                Column("change of wins of the first player", MEASURED, 1): change(with_list, without, is_first_win),
                Column("change of error rate", MEASURED, 1): change(with_list, without, is_error),
                **{
                    Column(f"{what}, %, {name}", MEASURED, 1): share(matches, event)
                    for what, event in (("wins of the second player", is_second_win), ("draws", is_draw))
                    for name, matches in both.items()
                },
                **{
                    Column(f"illegal replies, % of turns, {name}", MEASURED, 1): percent(illegal_replies(matches))
                    for name, matches in both.items()
                },
            }
        )
    return Table.of(
        f"{game}-change",
        f"{title}: what leaving the list out changes, in percentage points",
        rows,
        ["changes are over pairs of matches with the same seed, with Newcombe's 95 % interval"],
    )


def is_error(outcome: Outcome) -> bool:
    """Whether an illegal move ended the match."""
    return any(seat.forfeit == ILLEGAL for seat in outcome.seats)


def is_first_win(outcome: Outcome) -> bool:
    """Whether the first player won by a line."""
    return not any(seat.forfeit for seat in outcome.seats) and outcome.seats[0].reward > 0


def is_second_win(outcome: Outcome) -> bool:
    """Whether the second player won by a line."""
    return not any(seat.forfeit for seat in outcome.seats) and outcome.seats[1].reward > 0


def is_draw(outcome: Outcome) -> bool:
    """Whether the match ended with a full board."""
    return not any(seat.forfeit or seat.reward for seat in outcome.seats)


def share(outcomes: Sequence[Outcome], happened: Callable[[Outcome], bool]) -> Estimate | None:
    """Returns the share of matches with an event in per cent."""
    return percent(rate_estimate(sum(map(happened, outcomes)), len(outcomes)))


def illegal_replies(outcomes: Sequence[Outcome]) -> Estimate | None:
    """Returns illegal replies per turn, clustered by match."""
    return rate_of_counts(
        (seat.failures.get(ILLEGAL, 0), seat.turns, outcome.number) for outcome in outcomes for seat in outcome.seats
    )


def change(
    with_list: Sequence[Outcome], without: Sequence[Outcome], happened: Callable[[Outcome], bool]
) -> Estimate | None:
    """Returns the change of the rate of an event without the list, in points, paired by seed."""
    before = {outcome.seed: happened(outcome) for outcome in with_list}
    pairs = [(before[outcome.seed], happened(outcome)) for outcome in without if outcome.seed in before]
    return percent(paired_change([old for old, _ in pairs], [new for _, new in pairs]))


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return (
        f"n = {options.matches} matches of each policy with itself for each of two games and two prompts:"
        f" {rate_precision(options.matches)}"
    )


ROW = Row(
    title="what the list of legal moves is worth at the board games, by self-play with and without it",
    source="LLMArena, Table 2",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows="It shows how often a player makes an illegal move when it has to read the board for itself.",
    does_not_show=(
        "It does not show how well a player plays: both seats are the same player, so its wins measure the advantage of the"
        " first seat. The baselines read the position, not the text, so the list changes nothing for them; reader reads nothing"
        " but the text."
    ),
)
