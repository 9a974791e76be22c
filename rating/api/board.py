"""A leaderboard of battles from any source, to print, read and save."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from rating.api.data import Battles, battles_of, compared
from rating.schemes.battles import battle_leaderboard
from rating.schemes.leaderboard import Leaderboard, LeaderboardRow
from rating.stats import bradley_terry
from rating.stats.bradley_terry import BradleyTerryOptions
from rating.stats.style import StyleControl, style_control
from rating.viewer.report.style import style_sheet
from rating.viewer.report.tables import WIDTH, render, sheet, to_json


@dataclass(frozen=True)
class BattleBoard:
    """The leaderboard of battles; ``print`` shows it within 100 columns.

    Attributes:
        board: the leaderboard.
        style: style-controlled ratings and the effects of style; ``None`` if not requested.
    """

    board: Leaderboard
    style: StyleControl | None = None

    @property
    def rows(self) -> tuple[LeaderboardRow, ...]:
        """The policies, best first."""
        return self.board.rows

    @property
    def caveats(self) -> tuple[str, ...]:
        """Doubts about the results."""
        return self.board.caveats

    def __str__(self) -> str:
        text = io.StringIO()
        for shown in [sheet(self.board), *([style_sheet(self.style)] if self.style else [])]:
            Console(file=text, width=WIDTH).print(render(shown, WIDTH))
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    def to_json(self) -> str:
        """Returns the leaderboard as JSON, with numbers rounded to four decimals."""
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
    board = battle_leaderboard("battles", found, seated=seated, options=options)
    if not style:
        return BattleBoard(board)
    plain = bradley_terry.standings(compared(found, seated=seated), options)
    return BattleBoard(board, style_control(found, style, plain, seated=seated))
