"""The main table: all seven games until the ratings converge (LLMArena, arXiv 2402.16499, Tables 1 and 4).

Tic-tac-toe, connect four, hold'em and bargain are rated by TrueSkill, undercover by the share of wins as undercover, bid and
Hanabi by the mean reward. Table 4 has the raw values, Table 1 the values in per cent of the best of each game, with averages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.experiments.pictures import axes, plain
from benchmarks.experiments.pool import plan_run
from benchmarks.experiments.precision import rate_precision
from benchmarks.experiments.published import Published, load_published
from benchmarks.experiments.row import Result, Row, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import (
    MEASURED,
    PUBLISHED,
    Cell,
    Cells,
    Column,
    Table,
    beside,
    paired_columns,
    percent,
)
from benchmarks.llmarena.groups import check_groups, group_table, mean, published_group_table, read_groups
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
from llmarena_envs.catalogue import load_environment
from llmarena_envs.core.options import OptionError, check_choice
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.schemes import formatting, leaderboard
from rating.schemes.conditions import TRUESKILL
from rating.schemes.leaderboard import Leaderboard, headline
from rating.schemes.summary import Summary, summarise_scores

FIELD = "similarity"
"""The policy on the other seats of undercover."""

METRICS = {
    "duels": "TrueSkill mu",
    "roles": "wins as undercover, %",
    "mean_reward": "mean reward",
    "cooperation": "mean reward with itself",
}
"""Ranking metric of each scheme."""

TEXT_COLOUR_TURNS = 75
"""Minimum score of a dark cell with a white number in the figure."""


@dataclass(frozen=True, kw_only=True)
class Options(RowOptions):
    """Options of the row."""

    min_matches: int = option(50, "matches of each policy before a rated game can stop", smoke=4)
    max_matches: int = option(400, "matches of each policy after which no more is begun", smoke=8)
    matches: int = option(
        100, "matches of each policy at undercover (as undercover), bid and Hanabi (with itself)", smoke=5
    )
    hands: int = option(
        20, "hands of a match of hold'em; the paper plays 1, which hardly tells policies apart", smoke=5
    )
    field: str = option(
        "", f"the policy on the other seats of undercover (default: {FIELD}, or the first if it does not play)"
    )
    preset: str = option("standard", "treatment of bad replies: standard, or llmarena for the paper's")
    groups: str = option("", "CSV file with a line policy,group for every policy, e.g. by size, to average over")


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns one run of all games with policies.

    Raises:
        OptionError: if an option has no valid value.
    """
    check_choice("preset", options.preset, ("standard", "llmarena"))
    if options.matches > options.max_matches:
        raise OptionError(
            f"matches: expected no more than max_matches = {options.max_matches}, which holds for all games, got"
            f" {options.matches}; give --matches or --max-matches another value"
        )
    config = plan_run(
        options,
        [EnvironmentConfig(name=game, options=game_options(game, options.language, options.hands)) for game in GAMES],
        scripted=SCRIPTED,
        stop={"rule": TRUESKILL, **{key: getattr(options, key) for key in ("min_matches", "max_matches", "matches")}},
        preset=options.preset,
    )
    played = [item for item in config.environment if config.pool(item.name)]
    opponent = options.field or (FIELD if FIELD in config.pool("undercover_v0") else "")
    played = [
        item.model_copy(update={"opponent": opponent}) if item.name == "undercover_v0" else item for item in played
    ]
    if options.groups:
        groups = read_groups(Path(options.groups))
        if not options.run:
            check_groups(groups, [policy.title for policy in config.policy], Path(options.groups))
    return {PLAYED: config.model_copy(update={"environment": played})}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the values of every policy and game, normalised, averaged over games, abilities and groups."""
    run = runs[PLAYED]
    boards = leaderboards(run)
    summary = paper_summary(boards)
    published = load_published("benchmarks.llmarena")
    same = options.published_as()
    tables = [
        raw_table(boards, summary, published["T4_raw"], same),
        certainty_table(boards),
        normalised_table(summary, published["T1_normalised"], same),
        ability_table(summary, published["T1_normalised"], same),
        stop_table(run, boards),
        corrected_table(published["T4_raw_corrected"]),
        published_group_table(published["T1_normalised"], published["T1_groups"]),
    ]
    if options.groups:
        groups = read_groups(Path(options.groups))
        check_groups(groups, [row.policy for row in summary.rows], Path(options.groups))
        tables.append(group_table(summary, groups, GAMES))
    notes = [
        f"{GAMES[game]} stands in no average: its values cannot be put in per cent of the best one ({reason})"
        for game, reason in summary.left_out.items()
    ]
    notes += [
        f"no match of {GAMES[game]} has ended" for game in GAMES if game in run.environments() and game not in boards
    ]
    if "undercover_v0" in boards:
        opponent = run.config.find_environment("undercover_v0").opponent
        notes.append(
            f"on the other seats of undercover: {opponent or 'random if it plays, else the first policy by name'}"
        )
    return Result(tables, {"normalised": draw_normalised(summary)} if summary.environments else {}, notes)


def raw_table(
    boards: Mapping[str, Leaderboard], summary: Summary, published: Published, same: Mapping[str, str]
) -> Table:
    """Returns the value of every policy in every game, as in Table 4."""
    values = {game: {row.policy: raw_cell(row) for row in board.rows} for game, board in boards.items()}
    measured = {row.policy: [values.get(game, {}).get(row.policy) for game in GAMES] for row in summary.rows}
    return Table(
        "raw",
        "every game by its own metric",
        [as_printed(column) for column in paired_columns(list(GAMES.values()))],
        beside(published.rows, measured, same),
        [
            *(f"{GAMES[game]}: {METRICS[board.scheme]}{_compared(board)}" for game, board in boards.items()),
            "mu ± sigma (matches): sigma is the standard deviation of the model's belief, not an interval; the table `certainty`"
            " has Bradley-Terry ratings with intervals",
            "others: mean or rate with its 95 % interval (matches); no interval where all rewards were the same",
            f"published: {published.source}",
            *published.notes,
        ],
    )


def as_printed(column: Column) -> Column:
    """Returns a column of Table 4 with the printed number of decimals: Hanabi has a value with three."""
    return replace(column, decimals=3) if (column.title, column.source) == (GAMES["hanabi_v0"], PUBLISHED) else column


def _compared(board: Leaderboard) -> str:
    return "".join(
        f"; for comparison, {name}: {formatting.number(value, 3)}" for name, value in board.references.items()
    )


def paper_summary(boards: Mapping[str, Leaderboard]) -> Summary:
    """Returns the table of all games as in the paper: TrueSkill's mu is the one after the matches in their order."""
    values = {
        game: {
            **headline(board),
            **{row.policy: row.values["mu"] for row in board.rows if "mu" in row.values and not row.withheld},
        }
        for game, board in boards.items()
    }
    return summarise_scores(values, {game: load_environment(game).declaration.abilities for game in boards})


def raw_cell(row: leaderboard.LeaderboardRow) -> Cell:
    """Returns the metric of a policy with its uncertainty."""
    if "mu" not in row.values:
        return metric(row)
    if row.values["mu"] is None or row.tally is None:
        return None
    return f"{formatting.number(row.values['mu'], 2)} ± {formatting.number(row.values['sigma'], 2)} ({row.tally.n})"


def metric(row: leaderboard.LeaderboardRow) -> Cell:
    """Returns the ranking metric of a policy: a number for TrueSkill's mu, else an estimate."""
    values = row.values
    if "roles" in values:
        return percent(next(iter(values["roles"].values())))
    found: Cell = values["mu"] if "mu" in values else values.get("self_play", row.reward)
    return found


def certainty_table(boards: Mapping[str, Leaderboard]) -> Table:
    """Returns one line for every policy of every game, with the uncertainty of its value."""
    lines: list[Cells] = []
    for game, board in boards.items():
        for row in board.rows:
            is_rated = "mu" in row.values
            spread = row.values["spread"] if is_rated else None
            lines.append(
                {
                    Column("game"): GAMES[game],
                    Column("player"): row.policy,
                    Column("metric"): METRICS[board.scheme],
                    Column("value", MEASURED): metric(row),
                    Column("sigma", MEASURED): row.values["sigma"] if is_rated else None,
                    Column("sd of mu over orders of the matches", MEASURED): spread.sd if spread else None,
                    Column("Bradley-Terry rating, Elo", MEASURED, 0): bradley_terry_cell(row) if is_rated else None,
                    Column("reward of a match", MEASURED): row.reward,
                    Column("matches", MEASURED): row.effort.matches,
                    Column("void matches", MEASURED): row.effort.void_matches + row.effort.bug_matches,
                    Column("forfeits", MEASURED): sum(row.effort.forfeits.values()),
                }
            )
    return Table.of(
        "certainty",
        "how certain each value is",
        lines,
        [
            "Bradley-Terry: mean 1000, with its 95 % interval; it does not depend on the order of the matches, as mu does",
            *bradley_terry_notes(boards),
            "reward: mean of all finished matches with Student's 95 % interval over deals; none where all were the same",
        ],
    )


def normalised_table(summary: Summary, published: Published, same: Mapping[str, str]) -> Table:
    """Returns every value in per cent of the best of its game, with the averages of rows and columns, as in Table 1."""
    theirs = dict(published.rows)
    their_averages = theirs.pop("Average")
    measured: dict[str, Sequence[Cell]] = {
        row.policy: [*(row.scores.get(game) for game in GAMES), mean(list(row.scores.values()))] for row in summary.rows
    }
    our_averages = [
        *(mean([row.scores.get(game) for row in summary.rows]) for game in GAMES),
        mean([row.average.value if row.average else None for row in summary.rows]),
    ]
    rows = beside(theirs, measured, same)
    rows.append(["average", *(cell for pair in zip(their_averages, our_averages, strict=True) for cell in pair)])
    return Table(
        "normalised",
        "every game in per cent of its best player",
        paired_columns([*GAMES.values(), "average"]),
        rows,
        [
            "(n): cells an average is over; a player has an average over the games it plays, so averages of players of different"
            " games do not compare",
            "100 is the best of the players measured here, or of the paper's models: the two scales are not one",
            "a normalised score has no interval: the uncertainty of the values and of the best one is in the table `certainty`",
            f"published: {published.source}",
            *published.notes,
        ],
    )


def ability_table(summary: Summary, published: Published, same: Mapping[str, str]) -> Table:
    """Returns averages over the games of each ability."""
    asked = {game: load_environment(game).declaration.abilities for game in GAMES}
    abilities = sorted({ability for own in asked.values() for ability in own})
    theirs = {
        model: [
            mean([number for game, number in zip(GAMES, numbers, strict=False) if ability in asked[game]])
            for ability in abilities
        ]
        for model, numbers in published.rows.items()
        if model != "Average"
    }
    measured = {
        row.policy: [
            mean([score for game, score in row.scores.items() if ability in asked[game]]) for ability in abilities
        ]
        for row in summary.rows
    }
    return Table(
        "abilities",
        "averages over the games that ask for an ability",
        paired_columns(abilities, 1),
        beside(theirs, measured, same),
        [
            *(f"{GAMES[game]}: {', '.join(asked[game])}" for game in GAMES),
            "(n): games; the paper names the abilities of each game and prints no such averages: those marked"
            " published are computed from its Table 1",
        ],
    )


def corrected_table(published: Published) -> Table:
    """Returns Table 4 with its misprints corrected."""
    return Table(
        "raw-corrected",
        "every game by its own metric, misprints corrected",
        [Column("model"), *(as_printed(Column(title, PUBLISHED)) for title in published.columns)],
        [[model, *numbers] for model, numbers in published.rows.items()],
        [f"published: {published.source}", *published.notes],
    )


def draw_normalised(summary: Summary) -> Figure:
    """Draws the normalised scores as a heat map."""
    titles = [*(GAMES[game] for game in summary.environments), "average"]
    table = [
        [*(row.scores[game] for game in summary.environments), row.average.value if row.average else None]
        for row in summary.rows
    ]
    with axes(1.3 + 0.32 * len(table)) as (figure, (field,)):
        shades = [[float("nan") if score is None else score for score in line] for line in table]
        field.imshow(shades, cmap="Blues", vmin=0, vmax=130, aspect="auto")
        for y, (row, line) in enumerate(zip(summary.rows, table, strict=True)):
            for x, score in enumerate(line):
                if score is not None:
                    colour = "white" if score > TEXT_COLOUR_TURNS else "black"
                    field.text(x, y, formatting.number(score, 1), ha="center", va="center", color=colour)
            if row.average:
                field.text(len(line) - 0.4, y, f"({row.average.n})", va="center", color="grey")
        field.set_xticks(range(len(titles)), titles, rotation=20, ha="right", rotation_mode="anchor")
        field.set_yticks(range(len(table)), [plain(row.policy, 30) for row in summary.rows])
        field.axvline(len(titles) - 1.5, color="white", linewidth=3)
        figure.supxlabel(
            "per cent of the best of each game; empty: not played; (n): games of the average", fontsize="medium"
        )
        field.tick_params(length=0)
        for spine in field.spines.values():
            spine.set_visible(False)
    return figure


def precision(options: Options) -> str:
    """Returns the planned number of cases."""
    return (
        f"n = {options.min_matches} to {options.max_matches} matches of each policy in each rated game, {options.matches} in each"
        f" other one, where {rate_precision(options.matches)}"
    )


ROW = Row(
    title="all seven games until the ratings stand: raw, normalised, averages, groups and abilities",
    source="LLMArena, Tables 1 and 4",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    shows="It shows how players compare in each game, and over all games in per cent of the best.",
    does_not_show=(
        "It does not show by how much a player is better: TrueSkill's scale has no zero, so per cent of the best mu are an order"
        " and a habit of the paper, not a share of skill. The baselines of a game play that game only, so their averages are over"
        " it alone; who is best depends on who else plays."
    ),
)
