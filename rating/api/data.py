"""Input forms of battles: tuples, or tables by column."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from llmarena_envs.core.options import OptionError
from rating.judgements import SCORES, read_label
from rating.readers.style import STYLE, read_style
from rating.stats.bradley_terry import Comparisons
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.results import Battle, Style


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


def comparisons(data: Battles, *, seated: bool) -> Comparisons:
    """Prepares battles for a fit.

    Raises:
        ValueError: if no battle is between two policies, or as ``battles_of``.
    """
    return compared(battles_of(data), seated=seated)


def compared(battles: Iterable[Battle], *, seated: bool) -> Comparisons:
    """Prepares battles for a fit.

    Raises:
        ValueError: if no battle is between two policies.
    """
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
        return Battle(str(first), str(second), float(score), _deal(deal), float(weight), style)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"battle {place}: expected numbers for score and weight, got {score!r} and {weight!r}"
        ) from error


def _deal(value: Any) -> str:
    """Returns the name of a deal; empty for missing values."""
    return "" if _is_missing(value) else str(value)


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
        yield first, second, score, of_deal, weight, _style(dict(zip(of_style, values, strict=True)), place)


def _style(row: dict[str, Any], place: int) -> Style:
    try:
        return read_style(row)
    except OptionError as error:
        raise ValueError(f"battle {place}: {error}") from None


def _score(winner: Any, players: tuple[str, str], place: int) -> float:
    label = read_label(str(winner), players)
    if label not in SCORES:
        raise ValueError(f"battle {place}: winner: expected model_a, model_b or tie, got {winner!r:.60}")
    return SCORES[label]
