"""Tables and JSON of pairs, one verdict per row: Chatbot Arena battles, pairwise comparisons, judges' verdicts.

They differ in their column names. Source of the first: Chiang et al. 2024 (Chatbot Arena, arXiv 2403.04132).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.judgements import (
    CASE,
    FIRST,
    JUDGE,
    NOTHING,
    SECOND,
    STAGES,
    TIE,
    Judgement,
    Label,
    case_of,
    field,
    read_label,
)
from rating.readers.result import Result, battle_of, case_name, name_of, number_of, score_of
from rating.readers.style import read_style
from rating.stats.results import LEAST_WEIGHT, MOST_WEIGHT

_WINNER = ("winner", "verdict", "label")
_SHARES = {"winner_model_a": FIRST, "winner_model_b": SECOND, "winner_tie": TIE}
"""One-hot columns of the Chatbot Arena preference competition; exactly one is 1."""


@dataclass(frozen=True)
class Pairs:
    """Reads rows of one result each.

    Args:
        players: columns of the side shown first and of the other side.
    """

    players: tuple[str, str]

    def fits(self, columns: frozenset[str]) -> bool:
        """Returns whether a row with these columns can be of the format."""
        return columns.issuperset(self.players) and bool(
            columns.intersection((*_WINNER, "score")) or columns.issuperset(_SHARES)
        )

    def __call__(self, row: Mapping[str, Any], where: str) -> Iterator[Result]:
        """Yields the result of a row; ``where`` names the row if it has no question.

        Raises:
            OptionError: if it has no result.
        """
        one, other = (name_of(field(row, (column,))) for column in self.players)
        is_swapped = _optional(row, ("order",)).casefold() == "ba"
        players = (other, one) if is_swapped else (one, other)
        question, judge, stage, environment = (
            _optional(row, names) for names in (CASE, JUDGE, ("stage",), ("environment",))
        )
        question = case_name(question)
        if stage.casefold() not in STAGES:
            raise OptionError(f"stage: expected first or final, got {stage!r:.60}")
        is_first = STAGES[stage.casefold()] == "first"
        label = _label(_verdict(row), players)
        score = _number(row, "score")
        if label is None and score is None and (is_first or not judge):
            raise OptionError("expected a winner or a score, got neither")
        if score is None:
            score = None if label is None else score_of(label)
        elif not 0 <= score <= 1:
            raise OptionError(f"score: expected 0 to 1, got {score:g}")
        elif is_swapped:
            score = 1 - score
        weight = _number(row, "weight")
        if weight is not None and not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
            raise OptionError(f"weight: expected {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, got {weight:g}")
        said = _unjudged(row, judge, players, question or where, is_swapped) if judge else None
        if said is not None:
            said = said._replace(first=label) if is_first else said._replace(final=label)
        style = read_style(row)
        if is_swapped:
            style = {name: (second, first) for name, (first, second) in style.items()}
        yield Result(
            None
            if score is None or is_first
            else battle_of(players, score, question, 1.0 if weight is None else weight, style),
            name_of(environment) if environment else "",
            said,
        )


def _optional(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Returns the first field of a row with one of these names, or an empty text."""
    for name in names:
        if name in row:
            value = row[name]
            return value if isinstance(value, str) else field(row, (name,), empty=True)
    return ""


def _verdict(row: Mapping[str, Any]) -> str:
    """Returns the verdict as written; empty without one."""
    if not _SHARES.keys() <= row.keys():
        return _optional(row, _WINNER)
    chosen = [label for name, label in _SHARES.items() if _number(row, name) == 1]
    if len(chosen) != 1:
        raise OptionError(f"expected 1 in one of {', '.join(_SHARES)}, got it in {len(chosen)}")
    return chosen[0]


@lru_cache(1 << 12)
def _label(text: str, players: tuple[str, str]) -> Label | None:
    return read_label(" ".join(printable(text).split()), players)  # normalised like the names


def _number(row: Mapping[str, Any], name: str) -> float | None:
    """Returns a number of a row, or ``None`` without one."""
    value = row.get(name)
    if value is None or (isinstance(value, str) and value.strip().casefold() in NOTHING):
        return None
    return number_of(name, value)


def _unjudged(
    row: Mapping[str, Any], judge: str, players: tuple[str, str], question: str, is_swapped: bool
) -> Judgement:
    """Returns the judgement of a named judge without its verdict; each turn of a conversation is an item of its own."""
    turn = _optional(row, ("turn",))
    item = case_name(f"{question}, turn {turn}") if turn else question
    first, second = (_number(row, f"words_{side}") for side in ("ba" if is_swapped else "ab"))
    return Judgement(
        case_of(item, players),
        name_of(judge),
        None,
        players=players,
        words=None if first is None or second is None else (first, second),
        contest=case_of(item, tuple(sorted(players))),
    )


BATTLES = Pairs(("model_a", "model_b"))
PAIRWISE = Pairs(("left", "right"))
VERDICTS = Pairs(("a", "b"))
