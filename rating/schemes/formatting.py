"""Formatting of table values."""

from collections.abc import Mapping
from typing import NamedTuple

from rating.stats.estimates import Estimate, Rating
from rating.stats.prediction_powered import TrueScore
from rating.stats.results import WinDrawLoss


def number(value: float | None, decimals: int) -> str:
    """Formats a number; empty if it is missing."""
    return "" if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def counted(count: int, singular: str, plural: str = "") -> str:
    """Formats a count with its noun: ``1 match``, ``1,200 matches``."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def at_least(count: int, unknown: int) -> str:
    """Formats a count with ``unknown`` further cases of unknown size: ``>= 120``, or ``?`` without a known count."""
    if not unknown:
        return str(count)
    return f">= {count}" if count else "?"


def estimate(value: Estimate | None, *, scale: float = 1.0, decimals: int = 2) -> str:
    """Formats a mean with its interval and the number of cases: ``1.50 [1.20, 1.80] (40)``."""
    if value is None:
        return ""
    low, high = (None if end is None else number(scale * end, decimals) for end in (value.low, value.high))
    interval = f" [{low}, {high}]" if low is not None else ""
    return f"{number(scale * value.value, decimals)}{interval} ({value.n})"


def rating(value: Rating | None) -> str:
    """Formats a rating with its interval, bounded or not: ``1500 [1320, -)``."""
    if value is None:
        return ""
    low = "(-" if value.low is None else f"[{number(value.low, 0)}"
    high = "-)" if value.high is None else f"{number(value.high, 0)}]"
    return f"{number(value.value, 0)} {low}, {high}"


def elo(value: Estimate) -> str:
    """Formats a difference of ratings with its interval, if it has one: ``35 Elo [10, 60]``."""
    interval = "" if value.low is None else f" [{number(value.low, 0)}, {number(value.high, 0)}]"
    return f"{number(value.value, 0)} Elo{interval}"


def score(value: Estimate | None, decimals: int = 0) -> str:
    """Formats a score in per cent: ``54 [51, 57]``."""
    if value is None:
        return ""
    shown = number(100 * value.value, decimals)
    if value.low is None or value.high is None:
        return shown
    return f"{shown} [{number(100 * value.low, decimals)}, {number(100 * value.high, decimals)}]"


class TrueScoreCells(NamedTuple):
    """The cells of a judge's score with its correction; empty without one.

    Attributes:
        corrected: the corrected score, or the number of deals of a refused one.
        share: share of the items with truth, in per cent.
        judged: the judge's score alone.
    """

    corrected: str = ""
    share: str = ""
    judged: str = ""


def true_score(value: TrueScore | None) -> TrueScoreCells:
    """Formats a judge's score with its correction."""
    if value is None:
        return TrueScoreCells()
    corrected = score(value.corrected, 1) if value.corrected else f"refused: {value.true_deals} true"
    return TrueScoreCells(corrected, number(100 * value.share, 0), score(value.judged, 1))


def ranks(best: int, worst: int) -> str:
    """Formats a range of ranks: ``2`` or ``1-3``."""
    return str(best) if best == worst else f"{best}-{worst}"


def percent(value: Estimate | None) -> str:
    """Formats a rate as ``estimate`` does, in per cent."""
    return estimate(value, scale=100.0, decimals=1)


def tally(value: WinDrawLoss | None) -> str:
    """Formats wins, draws and losses."""
    return "" if value is None else f"{value.wins}/{value.draws}/{value.losses}"


def kinds(counts: Mapping[str, int]) -> str:
    """Formats counts by kind: ``empty 1, illegal 3``."""
    return ", ".join(f"{name} {count}" for name, count in counts.items())
