"""A leaderboard of battles from any source, to print, read and save."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from rating.api.data import Battles, battles_of, compared
from rating.report.style import style_sheet
from rating.report.tables import WIDTH, Sheet, render, to_json
from rating.schemes import cells
from rating.schemes.claims import claims
from rating.schemes.leaderboard import ALWAYS, Ranks
from rating.statistics import bradley_terry
from rating.statistics.bradley_terry import BradleyTerryOptions, Standing
from rating.statistics.style import StyleControl, style_control
from rating.statistics.transitivity import against_one_scale


@dataclass(frozen=True)
class BattleRow:
    """A policy.

    Attributes:
        policy: its name.
        best_rank: the best rank compatible with the results, from 1.
        worst_rank: the worst.
        rating: Bradley-Terry rating, in Elo.
        low: lower end of its 95 % interval; ``None`` if it is unbounded below.
        high: upper end; ``None`` if it is unbounded above.
        score: mean score over all its battles, 0 to 1.
        battles: number of battles.
        is_linked: whether chains of wins and ties connect it with the others in both directions; if not, its distance comes from
            the prior.
    """

    policy: str
    best_rank: int
    worst_rank: int
    rating: float
    low: float | None
    high: float | None
    score: float
    battles: int
    is_linked: bool


@dataclass(frozen=True)
class BattleBoard:
    """The leaderboard; ``print`` shows it within 100 columns.

    Attributes:
        rows: best first, equals by name.
        notes: findings and caveats.
        style: style-controlled ratings and the effects of style; ``None`` if not requested.
    """

    rows: tuple[BattleRow, ...]
    notes: tuple[str, ...]
    style: StyleControl | None = None

    def __str__(self) -> str:
        text = io.StringIO()
        for shown in [_sheet(self), *([style_sheet(self.style)] if self.style else [])]:
            Console(file=text, width=WIDTH).print(render(shown, WIDTH))
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    def to_json(self) -> str:
        """Returns rows and notes as JSON, with numbers rounded to four decimals."""
        return to_json(self)


def leaderboard(
    battles: Battles,
    *,
    seated: bool = False,
    options: BradleyTerryOptions | None = None,
    style: Sequence[str] = (),
) -> BattleBoard:
    """Returns the leaderboard of battles.

    Args:
        battles: at least one, in any order.
        seated: whether the first policy of a battle had the first seat; its advantage is then fitted. Leave it out if a log might
            list winners first.
        options: of the fit.
        style: features to control for in additional ratings: ``("length", "format")``, where ``format`` means headers, lists and
            bold, or other names in the style of the battles.

    Raises:
        ValueError: if there is no battle between two policies, an entry is not a battle, or style cannot be controlled for.
    """
    found = battles_of(battles, styled=bool(style))
    results = compared(found, seated=seated)
    standings = bradley_terry.standings(results, options)
    scores = dict(zip(results.policies, bradley_terry.mean_scores(results).tolist(), strict=True))
    rows = [_row(standing, scores[standing.policy]) for standing in standings.rows]
    told = claims([(row.policy, Ranks(row.best_rank, row.worst_rank)) for row in rows])
    notes = (told, *standings.notes, *against_one_scale(results))
    control = style_control(found, style, standings, seated=seated) if style else None
    return BattleBoard(tuple(rows), tuple(note for note in notes if note), control)


def _row(standing: Standing, score: float) -> BattleRow:
    return BattleRow(
        standing.policy,
        standing.best_rank,
        standing.worst_rank,
        standing.rating,
        standing.low,
        standing.high,
        score,
        standing.games,
        standing.is_linked,
    )


def _sheet(board: BattleBoard) -> Sheet:
    header = ["policy", "rank", "rating", "score, %", "battles"]
    rows = [
        [
            row.policy,
            cells.ranks(row.best_rank, row.worst_rank),
            cells.rating(row.rating, row.low, row.high),
            cells.number(100 * row.score, 1),
            str(row.battles),
        ]
        for row in board.rows
    ]
    notes = [
        "rank: those that the results leave open; rating: Bradley-Terry in Elo with its 95 % interval; score: ties as halves",
        *board.notes,
    ]
    return Sheet("", header, rows, notes, [ALWAYS] * len(header))
