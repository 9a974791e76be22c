"""Correlation of a leaderboard with a human ranking (Auto-Arena, arXiv 2405.20267v1, sections 4.2, 4.5 and 4.6).

Table 1 is of 7 models, Table 4 and Figure 7 of 17, Figure 6 of 11 in Chinese.

Printed correlations are recomputed from the published scores. A tournament is played and compared in the same way with another
ranking: a file of scores, or the true strengths of the scripted debaters.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.auto_arena.boards import agreement_table, draw_published, draw_ratings, rating_table
from benchmarks.auto_arena.printed import RATED, claims_table, correlation_table, published_ratings_table, scores
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
from benchmarks.options import option
from rating.config.run_file import RunConfig


@dataclass(frozen=True)
class PublishedComparison:
    """Published data of a table of the paper.

    Attributes:
        scores: key of the published scores.
        human: their column with the human ranking.
        printed: keys of the printed correlations.
        lists: keys of published lists of ratings.
        gains: whether to show the paper's claims of its gains.
    """

    scores: str
    human: str
    printed: Sequence[str]
    lists: Sequence[str] = ()
    gains: bool = True


def plan(options: TournamentOptions) -> dict[str, RunConfig]:
    """Returns the tournament."""
    return {RUN: plan_tournament(options)}


def measure(runs: Mapping[str, PlayedRun], options: TournamentOptions, comparison: PublishedComparison) -> Result:
    """Returns the printed and recomputed correlations, and the correlations of the played tournament."""
    published = load_published("benchmarks.auto_arena")
    played = read_tournament(runs[RUN])
    names = [row.policy for row in played.board.rows]
    own = scores_to_compare(options, names)
    tables = [
        correlation_table(
            published[comparison.scores], comparison.human, [published[key] for key in comparison.printed]
        ),
        *([claims_table(published["improvement"])] if comparison.gains else []),
    ]
    if own:
        others = {"initial scores": played.prior} if played.prior else {}
        tables.append(agreement_table(played.ratings, others, own.values, own.title))
    tables.append(rating_table(played.board, played.ratings, own.values if own else {}))
    figures = {"ratings": draw_ratings(played.ratings["half"])}
    if comparison.lists:
        lists = {key: published[key] for key in comparison.lists}
        tables.append(
            published_ratings_table(lists, played.ratings["half"].estimates(), options.published_as(), tables[0].notes)
        )
        figures |= {
            f"published-{len(table.rows)}": draw_published(
                scores(table, RATED), f"published rating of {len(table.rows)} models, Elo"
            )
            for table in lists.values()
        }
    notes = [*played.notes]
    if not own:
        notes.append("no ranking to compare the tournament with; name a file with --scores")
    return Result(tables, figures, notes)


def make_row(
    title: str, source: str, options: type[TournamentOptions], comparison: PublishedComparison
) -> Row[TournamentOptions]:
    """Returns the row of a table.

    Args:
        title: of the row.
        source: its place in the paper.
        options: of the tournament.
        comparison: the published data.
    """
    return Row(
        title=title,
        source=source,
        options=options,
        plan=plan,
        measure=lambda runs, options: measure(runs, options, comparison),
        precision=precision,
        preparation=EXAMINED,
        shows=(
            "It shows whether the published scores give the printed correlations, and how far a tournament finds the order that"
            " another ranking has."
        ),
        does_not_show=(
            "It does not show that one list is better than another: of so few players most correlations lie within each other's"
            " intervals. Scripted debaters are judged by points that can be counted, so they are found more easily than models."
        ),
        any_manner=True,
    )


SEVEN_PLAYERS = make_row(
    "correlation of benchmarks and of a tournament with a human ranking, 7 players",
    "Auto-Arena, section 4.2, Table 1",
    TournamentOptions,
    PublishedComparison("T1_7models", "Arena, English, 2024-05-27", ("T1_spearman",)),
)


@dataclass(frozen=True, kw_only=True)
class SeventeenOptions(TournamentOptions):
    """Options of the row of 17 players: nine play Swiss rounds, as in the fourth version of the paper, and the others follow."""

    players: int = option(17, "scripted debaters, those who come late included", smoke=8)
    late: int = option(8, "how many of them are placed after the rounds, one after the other", smoke=1)


SEVENTEEN_PLAYERS = make_row(
    "correlation of benchmarks and of a tournament with a human ranking, 17 players, and the leaderboard",
    "Auto-Arena, section 4.5, Table 4 and Figure 7",
    SeventeenOptions,
    PublishedComparison(
        "T4_17models",
        "Arena",
        ("T4_correlations", "T4_pearson", "concordance_17models"),
        lists=("T4_17models", "elo_18models"),
    ),
)


@dataclass(frozen=True, kw_only=True)
class ChineseOptions(TournamentOptions):
    """Options of the row in Chinese."""

    players: int = option(11, "scripted debaters, those who come late included", smoke=7)
    language: str = option("zh", "language of the debates, en or zh")


_CHINESE = make_row(
    "a tournament in Chinese and its correlation with a human ranking, 11 players",
    "Auto-Arena, section 4.6, Figure 6",
    ChineseOptions,
    PublishedComparison(
        "chinese_11models",
        "Arena, Chinese",
        ("chinese_correlations", "chinese_pearson"),
        lists=("chinese_11models",),
        gains=False,
    ),
)
CHINESE = replace(
    _CHINESE,
    does_not_show=(
        f"{_CHINESE.does_not_show} Scripted debaters play alike in every language: offline this row is a smoke test of the"
        " Chinese texts, with the same ratings as the English tournament."
    ),
)
