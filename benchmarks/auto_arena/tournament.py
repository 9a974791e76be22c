"""A whole tournament: ratings, the log of pairings with their committees, and the number of battles.

Source: Auto-Arena (arXiv 2405.20267v1, section 4.1).
"""

from collections.abc import Mapping

from benchmarks.auto_arena.boards import draw_paths, draw_ratings, pairing_table, rating_table
from benchmarks.auto_arena.pairings import pairings, planned_pairings
from benchmarks.auto_arena.question_stage import EXAMINED
from benchmarks.auto_arena.tournaments import (
    RUN,
    TournamentOptions,
    plan_tournament,
    precision,
    read_tournament,
    scores_to_compare,
)
from benchmarks.experiments.published import load_published
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Column, Table
from rating.config.run_file import RunConfig

GROWN = {7: 0, 9: 0, 17: 8, 18: 9}
"""Numbers of players in the paper and its records, each with the number of newcomers."""

QUESTIONS = 40
"""Battles per pairing, in the paper."""


def plan(options: TournamentOptions) -> dict[str, RunConfig]:
    """Returns the tournament."""
    return {RUN: plan_tournament(options)}


def measure(runs: Mapping[str, PlayedRun], options: TournamentOptions) -> Result:
    """Returns ratings, pairings and numbers of battles."""
    played = read_tournament(runs[RUN])
    scores = scores_to_compare(options, [row.policy for row in played.board.rows])
    log = pairings(played.outcomes)
    tables = [
        rating_table(played.board, played.ratings, scores.values if scores else {}),
        count_table(len(played.board.rows), len(played.board.facts["newcomers"]), len(log), len(played.outcomes)),
        pairing_table(log, played.board),
        load_published("benchmarks.auto_arena")["protocol"].table(
            "protocol", "what the text says of its protocol", "what", 0
        ),
    ]
    figures = {"ratings": draw_ratings(played.ratings["half"]), "paths": draw_paths(played.board)}
    return Result(tables, figures, played.notes)


def count_table(players: int, late: int, paired: int, battles: int) -> Table:
    """Returns the numbers of battles by the rules, in the authors' records, and in the played tournament.

    Args:
        players: of the tournament.
        late: number of newcomers.
        paired: number of played pairings.
        battles: number of played battles.
    """
    published = load_published("benchmarks.auto_arena")["battle_counts"]
    rows: list[list[Cell]] = [
        [
            f"{size} players",
            late,
            planned_pairings(size, late),
            QUESTIONS * planned_pairings(size, late),
            published.rows.get(f"{size} models", [None])[0],
            None,
        ]
        for size, late in GROWN.items()
    ]
    rows.append([f"played here, {players} players", late, paired, None, None, battles])
    return Table(
        "battles",
        "numbers of battles",
        [
            Column("tournament"),
            Column("placed after the rounds"),
            Column("pairings"),
            Column(f"battles by the rules, {QUESTIONS} a pairing"),
            Column("battles", PUBLISHED, 0),
            Column("battles", MEASURED, 0),
        ],
        rows,
        [
            "by the rules: the binary logarithm of the number of players, rounded up, is the number of rounds, and of the"
            " pairings of each player who is placed afterwards",
            f"published: {published.source}",
            *published.notes,
        ],
    )


ROW = Row(
    title="a whole tournament: ratings, pairings with their committees, numbers of battles",
    source="Auto-Arena, section 4.1",
    options=TournamentOptions,
    plan=plan,
    measure=measure,
    precision=precision,
    preparation=EXAMINED,
    shows=(
        "It shows who is rated how after Swiss rounds, who met whom, who judged it, and how ratings moved from pairing to"
        " pairing. With --run it takes any tournament of debates."
    ),
    does_not_show=(
        "It does not show how good anybody is at anything but debating before this committee: its members are players, and what"
        " they like wins."
    ),
    any_manner=True,
)
