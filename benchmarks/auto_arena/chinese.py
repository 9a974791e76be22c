"""A tournament in Chinese and its correlation with a human ranking, 11 models.

Source: Auto-Arena (arXiv 2405.20267v1, section 4.6, Figure 6).
"""

from dataclasses import dataclass, replace

from benchmarks.auto_arena.rankings import PublishedComparison, make_row
from benchmarks.auto_arena.tournaments import TournamentOptions
from benchmarks.options import option


@dataclass(frozen=True, kw_only=True)
class Options(TournamentOptions):
    """Options of the row."""

    players: int = option(11, "scripted debaters, those who come late included", smoke=7)
    language: str = option("zh", "language of the debates, en or zh")


SMOKE_TEST = (
    "Scripted debaters play alike in every language: offline this row is a smoke test of the Chinese texts, with"
    " the same ratings as the English tournament."
)

_ROW = make_row(
    "a tournament in Chinese and its correlation with a human ranking, 11 players",
    "Auto-Arena, section 4.6, Figure 6",
    Options,
    PublishedComparison(
        "chinese_11models",
        "Arena, Chinese",
        ("chinese_correlations", "chinese_pearson"),
        lists=("chinese_11models",),
        gains=False,
    ),
)
ROW = replace(_ROW, does_not_show=f"{_ROW.does_not_show} {SMOKE_TEST}")
