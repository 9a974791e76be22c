"""Correlation with a human ranking and leaderboard, 17 models (Auto-Arena, arXiv 2405.20267v1, section 4.5, Table 4, Figure 7).

A Swiss tournament of nine is played, as in the fourth version of the paper, and the others are added in sequence.
"""

from dataclasses import dataclass

from benchmarks.auto_arena.rankings import PublishedComparison, make_row
from benchmarks.auto_arena.tournaments import TournamentOptions
from benchmarks.options import option


@dataclass(frozen=True, kw_only=True)
class Options(TournamentOptions):
    """Options of the row."""

    players: int = option(17, "scripted debaters, those who come late included", smoke=8)
    late: int = option(8, "how many of them are placed after the rounds, one after the other", smoke=1)


ROW = make_row(
    "correlation of benchmarks and of a tournament with a human ranking, 17 players, and the leaderboard",
    "Auto-Arena, section 4.5, Table 4 and Figure 7",
    Options,
    PublishedComparison(
        "T4_17models",
        "Arena",
        ("T4_correlations", "T4_pearson", "concordance_17models"),
        lists=("T4_17models", "elo_18models"),
    ),
)
