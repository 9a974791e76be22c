"""Logs of battles: verdicts by row, judgement logs of Auto-Arena, and win matrices; CSV, a JSON array or JSON lines.

Source of the columns of ``battles``: Chiang et al. 2024 (Chatbot Arena, arXiv 2403.04132); of ``auto-arena``: arXiv 2405.20267v1.
"""

import hashlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from agents.records import encodable
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.judgements import (
    FIRST,
    ITEM,
    JUDGE,
    NOTHING,
    SCORES,
    SECOND,
    STAGES,
    TIE,
    Judgement,
    Label,
    committee,
    field,
    optional,
    read_label,
    unjudged,
)
from rating.readers.style import read_style
from rating.rows import UnreadableRow, each_row, is_text
from rating.stats.results import LEAST_WEIGHT, MOST_WEIGHT, NO_STYLE, Battle, Style

MOST_BATTLES = 2_000_000
"""Most battles of one log; a win matrix or a few files of scores can state any number of them."""

PLAYERS = {"battles": ("model_a", "model_b"), "pairwise": ("left", "right"), "verdicts": ("a", "b")}
"""Columns of the side shown first and of the other side, by format."""

_WINNER = ("winner", "verdict", "label")
_SHARES = {"winner_model_a": FIRST, "winner_model_b": SECOND, "winner_tie": TIE}
"""One-hot columns of the Chatbot Arena preference competition; exactly one is 1."""

_LONGEST_NAME = 200
_LONGEST_CASE = 120


class Result(NamedTuple):
    """The result in a row.

    Attributes:
        battle: the battle; ``None`` for a judgement without one, such as a verdict before discussion.
        environment: name of the environment; empty if the log does not state it.
        judgement: the verdict of a named judge; ``None`` without one.
    """

    battle: Battle | None
    environment: str = ""
    judgement: Judgement | None = None


class Rejected(NamedTuple):
    """A rejected row.

    Attributes:
        file: path of the file.
        where: place in the file, e.g. ``line 3``.
        reason: why it was rejected.
    """

    file: Path
    where: str
    reason: str


RowReader = Callable[[dict[str, Any], str], Iterable[Result]]
"""Returns the results of a row, given the row and its name; raises ``OptionError`` if it has none."""


def read_rows(paths: Sequence[Path], read: RowReader) -> Iterator[Result | Rejected]:
    """Yields the results in row order; a second verdict of a judge on the same item is rejected."""
    known: set[bytes] = set()
    for path in paths:
        for where, row in each_row(path):
            if isinstance(row, UnreadableRow):
                yield Rejected(path, where, row.reason)
                continue
            try:
                results = list(read(row, f"{path.name}, {where}"))
                verdicts = [_key(result.environment, result.judgement) for result in results if result.judgement]
                if not known.isdisjoint(verdicts):
                    raise OptionError("the verdict of this judge on this case stands there already")
            except OptionError as error:
                yield Rejected(path, where, str(error))
            else:
                known.update(verdicts)
                yield from results


def _key(environment: str, judgement: Judgement) -> bytes:
    """Returns a key of environment, item, judge and stage; a short digest, since there can be millions."""
    is_first = str(judgement.first is not None and judgement.final is None)
    text = "\0".join((environment, judgement.item, judgement.judge, is_first))
    return hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).digest()


def has_pairs(columns: Iterable[str], players: tuple[str, str]) -> bool:
    """Returns whether rows with these columns hold a battle of two players each."""
    found = frozenset(columns)
    return found.issuperset(players) and bool(found.intersection((*_WINNER, "score")) or found.issuperset(_SHARES))


def read_pair(row: Mapping[str, Any], where: str, players: tuple[str, str]) -> Iterator[Result]:
    """Yields the result of a row.

    Args:
        row: fields by column.
        where: name of the item if the row has no question.
        players: columns of the side shown first and of the other side.

    Raises:
        OptionError: if it has no result.
    """
    one, other = (name_of(field(row, (column,))) for column in players)
    is_swapped = optional(row, ("order",)).casefold() == "ba"
    shown = (other, one) if is_swapped else (one, other)
    question, judge, stage, environment = (
        optional(row, names) for names in (ITEM, JUDGE, ("stage",), ("environment",))
    )
    question = case_name(question)
    if stage.casefold() not in STAGES:
        raise OptionError(f"stage: expected first or final, got {stage!r:.60}")
    is_first = STAGES[stage.casefold()] == "first"
    label = _label(_verdict(row), shown)
    score = _number(row, "score")
    if label is None and score is None and (is_first or not judge):
        raise OptionError("expected a winner or a score, got neither")
    if score is None:
        score = None if label is None else _score(label)
    elif not 0 <= score <= 1:
        raise OptionError(f"score: expected 0 to 1, got {score:g}")
    elif is_swapped:
        score = 1 - score
    weight = _number(row, "weight")
    if weight is not None and not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        raise OptionError(f"weight: expected {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, got {weight:g}")
    judgement = _judgement(row, judge, shown, question or where, is_swapped) if judge else None
    if judgement is not None:
        judgement = judgement._replace(first=label) if is_first else judgement._replace(final=label)
    style = read_style(row)
    if is_swapped:
        style = {name: (second, first) for name, (first, second) in style.items()}
    yield Result(
        None
        if score is None or is_first
        else battle_of(shown, score, question, 1.0 if weight is None else weight, style),
        name_of(environment) if environment else "",
        judgement,
    )


def _verdict(row: Mapping[str, Any]) -> str:
    """Returns the verdict as written; empty without one."""
    if not _SHARES.keys() <= row.keys():
        return optional(row, _WINNER)
    chosen = [label for name, label in _SHARES.items() if _number(row, name) == 1]
    if len(chosen) != 1:
        raise OptionError(f"expected 1 in one of {', '.join(_SHARES)}, got it in {len(chosen)}")
    return chosen[0]


@lru_cache(1 << 12)
def _label(text: str, players: tuple[str, str]) -> Label | None:
    return read_label(" ".join(printable(text).split()), players)  # normalised like the names


def _score(label: Label) -> float:
    if not isinstance(label, str):
        raise OptionError(f"expected A, B or tie, got {label:g}")
    return SCORES[label]


def _number(row: Mapping[str, Any], name: str) -> float | None:
    """Returns a number of a row, or ``None`` without one."""
    value = row.get(name)
    if value is None or (isinstance(value, str) and value.strip().casefold() in NOTHING):
        return None
    return _number_of(name, value)


def _number_of(name: str, value: Any) -> float:
    """Returns a finite number; true and false are 1 and 0."""
    try:
        number = float(
            {"true": 1, "false": 0}.get(value.strip().casefold(), value) if isinstance(value, str) else value
        )
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise OptionError(f"{name}: expected a number, got {str(value)!r:.60}")
    return number


def _judgement(
    row: Mapping[str, Any], judge: str, players: tuple[str, str], question: str, is_swapped: bool
) -> Judgement:
    """Returns the judgement of a named judge without its verdict; each turn of a conversation is an item of its own."""
    turn = optional(row, ("turn",))
    item = case_name(f"{question}, turn {turn}") if turn else question
    first, second = (_number(row, f"words_{side}") for side in ("ba" if is_swapped else "ab"))
    return unjudged(item, name_of(judge), players, None if first is None or second is None else (first, second))


def read_debate(row: dict[str, Any], where: str) -> Iterator[Result]:
    """Yields a result for the last verdict of each judge on a debate of Auto-Arena.

    Raises:
        OptionError: if a row is not the judgement of a debate.
    """
    if not {"gamekey", "judges"} <= row.keys():
        raise OptionError("expected gamekey and judges, the judgement of a debate")
    for raw, stages in committee(row):
        question = case_name(str(row["gamekey"][0]))
        players = (name_of(raw.players[0]), name_of(raw.players[1]))
        labels = {stage: read_label(text, raw.players) for stage, text in stages.items()}
        final = labels["final"]
        yield Result(
            None if final is None else battle_of(players, _score(final), question),
            judgement=unjudged(question, name_of(raw.judge), players)._replace(final=final, first=labels.get("first")),
        )


def is_matrix(columns: Sequence[str], names: Sequence[str]) -> bool:
    """Returns whether a table with these columns is a win matrix; ``names`` are the first cells of its rows."""
    others = [name for name in columns[1:] if name]
    return len(others) > 1 and sum(name in others for name in names) * 2 > len(names)


def read_matrix(paths: Sequence[Path], metric: str = "") -> Iterator[Result | Rejected]:
    """Yields a result for every whole win of the row over the column, and one tie for the fractional rest of a pair.

    A tie is half a win for each policy, so cells may hold fractions.

    Raises:
        OptionError: if a matrix states more than ``MOST_BATTLES`` results.
    """
    for path in paths:
        wins: dict[tuple[str, str], float] = {}
        for where, row in each_row(path, fold=str):
            if isinstance(row, UnreadableRow):
                yield Rejected(path, where, row.reason)
                continue
            try:
                wins |= _matrix_row({name: str(cell) for name, cell in row.items()}, wins)
            except OptionError as error:
                yield Rejected(path, where, str(error))
            if len(wins) > MOST_BATTLES:
                break
        games = max(len(wins), sum(wins.values()))
        if games > MOST_BATTLES:
            raise OptionError(f"{path}: expected at most {MOST_BATTLES} games or cells, got {games:.0f}")
        for first, second in sorted({(min(pair), max(pair)) for pair in wins}):
            yield from _games(first, second, wins.get((first, second), 0.0), wins.get((second, first), 0.0))


def _matrix_row(row: dict[str, str], known: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """Returns the wins of a row by pair; empty cells and the diagonal are skipped."""
    (_, policy), *cells = row.items()
    policy = name_of(policy)
    if not cells:
        raise OptionError("expected a name and a cell for every policy, got a name only")
    wins: dict[tuple[str, str], float] = {}
    for column, cell in cells:
        other = name_of(column)
        if other == policy or cell.casefold() in ("", "-", *NOTHING):
            continue
        if (policy, other) in known:
            raise OptionError(f"expected one row for each policy, got a second one for {policy!r:.60}")
        wins[policy, other] = _number_of(other, cell)
        if wins[policy, other] < 0:
            raise OptionError(f"{other}: expected a number of wins of 0 or more, got {cell:.60}")
    return wins


def _games(first: str, second: str, won: float, lost: float) -> Iterator[Result]:
    whole = int(won), int(lost)
    for score, count in zip((1.0, 0.0), whole, strict=True):
        yield from itertools.repeat(Result(battle_of((first, second), score)), count)
    rest = won - whole[0], lost - whole[1]
    if sum(rest) > 1e-9:
        yield Result(battle_of((first, second), rest[0] / sum(rest), weight=sum(rest)))


@lru_cache(1 << 12)
def name_of(text: str) -> str:
    """Returns a normalised name: one line, without terminal control characters.

    Raises:
        OptionError: if it is empty, too long or not valid text.
    """
    if not is_text(text):
        raise OptionError(f"expected a name in UTF-8, got {text!a:.60}")
    name = " ".join(printable(text).split())
    if not 0 < len(name) <= _LONGEST_NAME:
        raise OptionError(f"expected a name of 1 to {_LONGEST_NAME} characters, got {name!r:.60}")
    return name


def case_name(text: str) -> str:
    """Returns a short unique name of an item on one line; long texts are cut and get a digest."""
    text = encodable(text)
    name = " ".join(printable(text).split())
    if len(name) <= _LONGEST_CASE:
        return name
    return f"{name[: _LONGEST_CASE - 20]} ({hashlib.sha256(text.encode()).hexdigest()[:16]})"


def battle_of(
    players: tuple[str, str], score: float, deal: str = "", weight: float = 1.0, style: Style = NO_STYLE
) -> Battle:
    """Returns a battle of two policies.

    Raises:
        OptionError: if both are the same.
    """
    if players[0] == players[1]:
        raise OptionError(f"expected two policies, got {players[0]!r:.60} against itself")
    return Battle(*players, score, deal, weight, style)
