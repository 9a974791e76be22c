"""Public functions for battles from any source: rate, compare and print them."""

import io
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from llmarena_envs.core.options import OptionError, check_choice
from rating.judgements import SCORES, read_label
from rating.readers.style import STYLE, read_style
from rating.schemes.battles import battle_leaderboard
from rating.schemes.leaderboard import Leaderboard, LeaderboardRow
from rating.stats import bradley_terry
from rating.stats.bradley_terry import BradleyTerryFit, BradleyTerryOptions, Comparisons, Standings
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.compare import LEVEL, PolicyComparison, compare_units
from rating.stats.results import Battle
from rating.stats.style import StyleControl, style_control
from rating.stats.units import units_of
from rating.viewer.report.style import style_sheet
from rating.viewer.report.tables import WIDTH, render, sheet, to_json


class Columns(Protocol):
    """A table such as a DataFrame of pandas or polars or a dictionary of lists: values by column name."""

    def __getitem__(self, name: Any, /) -> Any:
        """Returns a column."""

    def __contains__(self, name: object, /) -> bool:
        """Returns whether there is a column of this name."""


Battles = Iterable[tuple[Any, ...]] | Columns
"""Battles, ``(first, second, score)`` tuples with optional deal, weight and style, or a table with these columns.

A table may also have the columns of published logs: ``model_a``, ``model_b``, ``winner`` (``model_a``, ``model_b``, ``tie``) and
``question_id``, used as the deal; style is read from the columns of ``rating.readers.style``.
"""


def fit(battles: Battles, *, seated: bool = False, options: BradleyTerryOptions | None = None) -> BradleyTerryFit:
    """Returns Bradley-Terry ratings in Elo with their covariance, as in ``standings``.

    Args:
        battles: at least one, in any order.
        seated: whether the first policy of a battle had the first seat; its advantage is then fitted. Leave it out if a log might
            list winners first.
        options: of the fit.

    Raises:
        ValueError: if there is no battle between two policies, or naming the entry that is not a battle.
    """
    return standings(battles, seated=seated, options=options).fitted


def standings(battles: Battles, *, seated: bool = False, options: BradleyTerryOptions | None = None) -> Standings:
    """Returns each policy's rating with a 95 % interval and possible ranks, and caveats.

    Args:
        battles: as for ``fit``.
        seated: as for ``fit``.
        options: as for ``fit``.

    Raises:
        ValueError: as for ``fit``.
    """
    return bradley_terry.standings(_comparisons(battles_of(battles), seated=seated), options)


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
    plain = bradley_terry.standings(_comparisons(found, seated=seated), options)
    return BattleBoard(board, style_control(found, style, plain, seated=seated))


def compare(
    battles: Battles,
    a: str,
    b: str,
    *,
    level: float = LEVEL,
    margin: float = 0.0,
    equal: float | None = None,
    seated: bool = False,
    ordered: bool = False,
    seed: int = 0,
) -> PolicyComparison:
    """Tests whether one policy is better than another; valid under repeated looks (anytime-valid).

    Args:
        battles: of any policies, see ``rating.api.Battles``; other pairs are ignored.
        a: name of a policy.
        b: name of the other policy.
        level: maximum probability of a wrong claim over all looks.
        margin: a policy is better if its win rate is above a half by more than this, 0 or more and below a half.
        equal: margin within which they are called equal, above ``margin`` and below a half; leave it out to skip this test.
        seated: whether the first and second of a battle are seats; then only deals played from both seats count.
        ordered: whether the order of battles does not depend on results, e.g. schedule order; then a decision stays final,
            regardless of later battles.
        seed: of the forecast of further battles.

    Raises:
        ValueError: naming the entry that is not a battle.
        OptionError: if a name is in no battle, both are the same, or a number is out of its range.
    """
    found = battles_of(battles)
    known = sorted({name for battle in found for name in battle[:2]})
    a, b = str(a), str(b)
    for name in (a, b):
        check_choice("policy", name, known)
    if a == b:
        raise OptionError(f"policies: expected different ones, got {a!r:.200} and {b!r:.200}")
    units = units_of(found, a, b, seated=seated, ordered=ordered)
    return compare_units(units, a, b, level=level, margin=margin, equal=equal, seed=seed)


def battles_of(data: Battles, *, styled: bool = False) -> list[Battle]:
    """Returns battles as ``Battle`` tuples.

    Args:
        data: see ``Battles``.
        styled: whether to read the style of the texts from columns of published logs.

    Raises:
        ValueError: if it is something else, with the expected row.
    """
    if isinstance(data, str | bytes | Path):
        raise ValueError(f"battles: expected battles, got text; rating.read_battles({str(data)!r:.60}) reads a file")
    if not isinstance(data, Iterable):
        raise ValueError(f"battles: expected battles or a table of them, got {data!r:.60}")
    rows = _rows(data, styled) if isinstance(data, Mapping) or hasattr(data, "columns") else iter(data)
    return [_battle(row, place) for place, row in enumerate(rows)]


def _comparisons(battles: Iterable[Battle], *, seated: bool) -> Comparisons:
    """Prepares battles for a fit; refuses them if none is between two policies."""
    found = comparisons_of(battles, seated=seated)
    if not found.policies:
        raise ValueError("battles: expected at least one between two policies, got none")
    return found


def _battle(row: Any, place: int) -> Battle:
    if isinstance(row, Battle):
        return row
    if (
        isinstance(row, str | Mapping)
        or not hasattr(row, "__len__")
        or not 3 <= len(row) <= len(Battle._fields)
        or any(_is_missing(name) for name in row[:2])
    ):
        raise ValueError(
            f"battle {place}: expected ({', '.join(Battle._fields)}), of which the first three are needed, got {row!r:.160}"
        )
    first, second, score, *rest = row
    deal = rest[0] if rest else ""
    weight = rest[1] if len(rest) > 1 else 1.0
    style = rest[2] if len(rest) > 2 else {}
    try:
        return Battle(
            str(first), str(second), float(score), "" if _is_missing(deal) else str(deal), float(weight), style
        )
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"battle {place}: expected numbers for score and weight, got {score!r} and {weight!r}"
        ) from error


def _is_missing(value: Any) -> bool:
    """Returns whether a value is empty or a table's missing value: not equal to itself, or not comparable."""
    if value is None or isinstance(value, str):
        return not value
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True


def _rows(table: Any, styled: bool) -> Iterator[tuple[Any, ...]]:
    names = list(table if isinstance(table, Mapping) else table.columns)
    if {"first", "second", "score"} <= set(names):
        chosen, deal = ["first", "second", "score"], "deal"
    elif {"model_a", "model_b", "winner"} <= set(names):
        chosen, deal = ["model_a", "model_b", "winner"], "question_id"
    else:
        raise ValueError(
            "battles: expected the columns first, second and score (and deal, weight), or model_a, model_b and winner, got "
            f"{', '.join(map(str, names))[:200]}"
        )
    size = len(table[chosen[0]])
    of_style = [name for name in STYLE if styled and name in names]
    if sizes := {len(table[name]) for name in (*chosen, deal, "weight", *of_style) if name in names} - {size}:
        raise ValueError(
            f"battles: expected columns of one length, got {size} and {', '.join(map(str, sorted(sizes)))}"
        )
    deals = table[deal] if deal in names else [""] * size
    weights = table["weight"] if "weight" in names else [1.0] * size
    columns = [table[name] for name in chosen]
    styles = zip(*(table[name] for name in of_style), strict=True) if of_style else itertools.repeat(())
    battles = zip(*columns, deals, weights, strict=True)
    for place, ((first, second, result, of_deal, weight), values) in enumerate(zip(battles, styles, strict=False)):
        score = result if chosen[2] == "score" else _score(result, (str(first), str(second)), place)
        try:
            style = read_style(dict(zip(of_style, values, strict=True)))
        except OptionError as error:
            raise ValueError(f"battle {place}: {error}") from None
        yield first, second, score, of_deal, weight, style


def _score(winner: Any, players: tuple[str, str], place: int) -> float:
    label = read_label(str(winner), players)
    if label not in SCORES:
        raise ValueError(f"battle {place}: winner: expected model_a, model_b or tie, got {winner!r:.60}")
    return SCORES[label]
