"""A player is added to a finished tournament: how ratings move, and whether the others keep their order.

Source: Auto-Arena (arXiv 2405.20267, section 4.5, Figure 5).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.auto_arena.boards import draw_paths, rating_table
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
from benchmarks.experiments.seats import unfinished
from benchmarks.experiments.tables import MEASURED, Cell, Column, Table
from benchmarks.options import option
from llmarena_envs.core.options import OptionError
from rating.running.run_file import RunConfig
from rating.schemes.tournament_board import Stage, TournamentLeaderboard
from rating.statistics.correlation import correlate


@dataclass(frozen=True, kw_only=True)
class Options(TournamentOptions):
    """Options of the row."""

    players: int = option(8, "scripted debaters, those who come late included")
    late: int = option(1, "how many of them are placed after the rounds, one after the other")


def plan(options: Options) -> dict[str, RunConfig]:
    """Returns a tournament to which somebody is added."""
    return {RUN: plan_tournament(options)}


def measure(runs: Mapping[str, PlayedRun], options: Options) -> Result:
    """Returns the ratings before and after, and after each pairing of a newcomer.

    Raises:
        OptionError: if nobody was added, or has met nobody yet.
    """
    played = read_tournament(runs[RUN])
    board = played.board
    added = arrivals(board)
    if not added:
        raise OptionError(
            f"{runs[RUN].directory}: expected a tournament to which somebody was added; add one with: llmarena tournament add"
        )
    scores = scores_to_compare(options, [row.policy for row in board.rows])
    tables = [
        order_table(board, added),
        *(path_table(board, name, begin, end) for name, (begin, end) in added.items()),
        rating_table(board, played.ratings, scores.values if scores else {}),
    ]
    return Result(tables, {"paths": draw_paths(board)}, unfinished(played.outcomes))


def arrivals(board: TournamentLeaderboard) -> dict[str, tuple[int, int]]:
    """Returns for every newcomer who has played how many pairings there were before its first and after its last one."""
    found = {}
    for name in board.newcomers:
        own = [number for number, stage in enumerate(board.path) if name in stage.ratings]
        following = [number for number in own if name not in board.path[number].pair]
        if own and own[0]:
            found[name] = (own[0], following[0] if following else len(board.path))
    return found


def order_table(board: TournamentLeaderboard, added: Mapping[str, tuple[int, int]]) -> Table:
    """Returns how the order of those who were there before changed with each newcomer."""
    rows: list[list[Cell]] = []
    for name, (begin, end) in added.items():
        before, after = board.path[begin - 1].ratings, board.path[end - 1].ratings
        found = correlate(before, after)
        moved = [player for player in before if place(before, player) != place(before.keys() & after.keys(), player, after)]
        rows.append(
            [
                name,
                end - begin,
                f"{place(after, name)} of {len(after)}",
                after[name],
                None if found.spearman is None else 100 * found.spearman,
                f"{found.pairs - found.alike:g} / {found.pairs}",
                max(abs(after[player] - before[player]) for player in before),
                ", ".join(sorted(moved)) or "nobody",
            ]
        )
    return Table("order", "", [], rows)
