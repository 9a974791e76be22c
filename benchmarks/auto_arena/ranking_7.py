"""Correlation with a human ranking, 7 models (Auto-Arena, arXiv 2405.20267v1, section 4.2, Table 1)."""

from benchmarks.auto_arena.rankings import PublishedComparison, make_row
from benchmarks.auto_arena.tournaments import TournamentOptions

ROW = make_row(
    "correlation of benchmarks and of a tournament with a human ranking, 7 players",
    "Auto-Arena, section 4.2, Table 1",
    TournamentOptions,
    PublishedComparison("T1_7models", "Arena, English, 2024-05-27", ("T1_spearman",)),
)
