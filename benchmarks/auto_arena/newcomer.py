"""Adds a player to a finished tournament: changes of the ratings and of the others' order.

Source: Auto-Arena (arXiv 2405.20267v1, section 4.5, Figure 5).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.auto_arena.boards import draw_paths, rating_table
from benchmarks.auto_arena.correlation import correlate
from benchmarks.auto_arena.question_stage import EXAMINED
from benchmarks.auto_arena.tournaments import (
    RUN,
    TournamentOptions,
    plan_tournament,
    precision,
    read_tournament,
    scores_to_compare,
)
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cell, Cells, Column, Table
from benchmarks.options import option
from llmarena_envs.core.options import OptionError
from rating.config.run_file import RunConfig
from rating.schedules.swiss import START
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.tournament import Stage


@dataclass(frozen=True, kw_only=True)
class Options(TournamentOptions):
    """Options of the row."""

    players: int = option(8, "scripted debaters, those who come late included")
    late: int = option(1, "how many of them are placed after the rounds, one after the other")


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a tournament with newcomers."""
    return {RUN: plan_tournament(options)}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the ratings before and after, and after each pairing of a newcomer.

    Raises:
        OptionError: if there is no newcomer, or it has not played yet.
    """
    played = read_tournament(runs[RUN])
    board = played.board
    added = arrivals(board)
    if not added:
        raise OptionError(
            f"{runs[RUN].directory}: expected a tournament with an added policy; add one with: llmarena resume --add"
        )
    scores = scores_to_compare(options, [row.policy for row in board.rows])
    tables = [
        order_table(board, added),
        *(path_table(board, name, begin, end) for name, (begin, end) in added.items()),
        rating_table(board, played.ratings, scores.values if scores else {}),
    ]
    return Result(tables, {"paths": draw_paths(board)}, played.notes)


def arrivals(board: Leaderboard) -> dict[str, tuple[int, int]]:
    """Returns for every newcomer with battles the number of pairings before its first and after its last one."""
    path: tuple[Stage, ...] = board.facts["path"]
    begins = {
        name: next((number for number, stage in enumerate(path) if name in stage.ratings), len(path))
        for name in board.facts["newcomers"]
    }
    ends = [*begins.values(), len(path)][1:]
    return {name: (begin, end) for (name, begin), end in zip(begins.items(), ends, strict=True) if 0 < begin < end}


def order_table(board: Leaderboard, added: Mapping[str, tuple[int, int]]) -> Table:
    """Returns the rank of each newcomer, and the change of the order of the earlier players."""
    rows: list[Cells] = []
    for name, (begin, end) in added.items():
        before, after = board.facts["path"][begin - 1].ratings, board.facts["path"][end - 1].ratings
        found = correlate(before, after)
        moves = moved(before, after)
        rows.append(
            {
                Column("newcomer"): name,
                Column("pairings", MEASURED): end - begin,
                Column("place", MEASURED): f"{order(after).index(name) + 1} of {len(after)}",
                Column("rating, Elo", MEASURED, 0): after[name],
                Column("the others: Spearman of before and after, %", MEASURED, 1): None
                if found.spearman is None
                else 100 * found.spearman,
                Column("pairs in another order", MEASURED): f"{found.pairs - found.alike:g} / {found.pairs}",
                Column("greatest move of one against their mean, Elo", MEASURED, 0): max(moves.values()),
                Column("order before, best first", MEASURED): ", ".join(order(before)),
                Column("order after, without the newcomer", MEASURED): ", ".join(
                    player for player in order(after) if player != name
                ),
            }
        )
    return Table.of(
        "order",
        "where newcomers came to stand, and the order of the others before and after",
        rows,
        [
            "ratings are fitted to all battles, those before and those of the newcomer, so the others' ratings move with what it"
            " shows of its opponents; they change places where they were close",
            "the mean of all ratings is 1000, so a newcomer shifts all others; their moves are told without that",
            "the paper shows paths in Figure 5 and prints no numbers",
        ],
    )


def order(ratings: Mapping[str, float]) -> list[str]:
    """Returns the players, the best first, equals by name."""
    return sorted(ratings, key=lambda player: (-round(ratings[player], 6), player))


def moved(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Returns the change of each earlier player's rating, relative to the mean change."""
    shift = sum(after[player] - before[player] for player in before) / len(before)
    return {player: abs(after[player] - before[player] - shift) for player in before}


def path_table(board: Leaderboard, newcomer: str, begin: int, end: int) -> Table:
    """Returns every rating before the first pairing of a newcomer and after each of its pairings."""
    names = order(board.facts["path"][end - 1].ratings)
    lines: list[list[Cell]] = [["before", *(board.facts["path"][begin - 1].ratings.get(name) for name in names)]]
    lines += [
        [against(stage, newcomer), *(stage.ratings.get(name) for name in names)]
        for stage in board.facts["path"][begin:end]
    ]
    return Table(
        f"path-{list(board.facts['newcomers']).index(newcomer) + 1}",
        f"ratings after each pairing of {newcomer}, Elo",
        [Column("pairing"), *(Column(name, MEASURED, 0) for name in names)],
        lines,
        [f"{newcomer} comes with {START:g}"],
    )


def against(stage: Stage, newcomer: str) -> str:
    """Returns the opponent of a newcomer."""
    first, second = stage.pair
    return f"against {second if first == newcomer else first}"


ROW = Row(
    title="a player is added to a finished tournament: how ratings move, and whether the others keep their order",
    source="Auto-Arena, section 4.5, Figure 5",
    options=Options,
    plan=plan,
    measure=measure,
    precision=precision,
    preparation=EXAMINED,
    shows=(
        "It shows how few battles place a newcomer, and what they change for the others. With --run it takes any tournament to"
        " which a policy was added with llmarena resume --add."
    ),
    does_not_show=(
        "It does not show where the newcomer would stand had it played from the beginning: it has met only those who were near"
        " it."
    ),
    any_manner=True,
)
