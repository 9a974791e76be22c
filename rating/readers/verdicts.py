"""Verdicts by row: votes on two players, tables of judges, and logs of Auto-Arena; CSV, a JSON array or JSON lines.

Fields of a row and their accepted names:

| field | names | |
|---|---|---|
| item | ``item``, ``question_id``, ``prompt``, ``id`` | together with the two players, if present |
| judge | ``judge``, ``reviewer``, ``worker``, ``annotator`` | optional in votes |
| verdict | ``winner``, ``verdict``, ``label`` | A, B or tie in any spelling, or a number; empty for an abstention |
| players | ``a`` and ``b``, ``model_a`` and ``model_b``, ``left`` and ``right`` | shown first and second; optional |
| turn | ``turn`` | of a conversation; each turn is an item of its own; optional |
| stage | ``stage`` | ``first`` (before discussion) or ``final``; optional |
| order | ``order`` | ``AB``, or ``BA`` if the two were shown in reverse order; optional |
| lengths | ``words_a``, ``words_b`` | of the two players' texts; optional |
| truth | ``truth`` | the right verdict, e.g. by an engine, tests or a reference; optional |
| task | ``task`` | of the item; optional |

A verdict refers to the positions as the judge saw them: with the order ``BA``, ``A`` is a verdict for player b.

Source of the columns of ``battles``: Chiang et al. 2024 (Chatbot Arena, arXiv 2403.04132); of ``auto-arena``: arXiv 2405.20267v1.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.judgements import FIRST, NOTHING, SCORES, SECOND, TIE, Judgement, Label, item_name, read_label
from rating.readers.results import Lengths, Rejected, Result, battle_of, case_name, finite_number, name_of, read_each
from rating.readers.style import read_style
from rating.stats.results import LEAST_WEIGHT, MOST_WEIGHT, Battle

PLAYERS = {"battles": ("model_a", "model_b"), "pairwise": ("left", "right"), "verdicts": ("a", "b")}
"""Columns of the side shown first and of the other side, by format."""

_ITEM = ("item", "question_id", "prompt", "id")
_JUDGE = ("judge", "reviewer", "worker", "annotator")
_VERDICT = ("winner", "verdict", "label")
_SHARES = {"winner_model_a": FIRST, "winner_model_b": SECOND, "winner_tie": TIE}
"""One-hot columns of the Chatbot Arena preference competition; exactly one is 1."""

_IS_FIRST = {
    **dict.fromkeys(("first", "before", "initial"), True),
    **dict.fromkeys(("final", "after", "discussion", ""), False),
}
"""Stages: whether before discussion."""

_IS_SWAPPED = {"": False, "ab": False, "ba": True}
"""Orders: whether the players were shown in reverse order."""

RowReader = Callable[[dict[str, Any], Path, str], Iterable[Result]]
"""Returns the results of a row, given the row, its file and its place there; raises ``OptionError`` if it has none."""

_MISSING = object()


def read_rows(paths: Sequence[Path], read: RowReader) -> Iterator[Result | Rejected]:
    """Yields the results in row order.

    Rejects a second verdict of a judge on an item, and numbers among verdicts A, B and tie or the reverse.
    """
    verdicts = _Verdicts()

    def checked(row: dict[str, Any], path: Path, where: str) -> list[Result]:
        results = list(read(row, path, where))
        verdicts.add(results, path, where)
        return results

    for found in read_each(paths, checked):
        yield from [found] if isinstance(found, Rejected) else found


class _Verdicts:
    """The verdicts of the rows before."""

    def __init__(self) -> None:
        self._places: dict[Path, dict[tuple[str, str, str, bool], str]] = defaultdict(dict)
        self._kind: type[Label] | None = None

    def add(self, results: Iterable[Result], path: Path, where: str) -> None:
        """Adds the judgements of a row.

        Raises:
            OptionError: if a verdict is repeated or of another kind; then none is added.
        """
        new, kind = {}, self._kind
        for result in results:
            if (judgement := result.judgement) is None:
                continue
            key = result.environment, judgement.item, judgement.judge, result.is_first
            if known := next((f"{file}, {places[key]}" for file, places in self._places.items() if key in places), ""):
                raise OptionError(
                    f"the verdict of {judgement.judge!r:.60} on {judgement.item!r:.80} is in {known} already;"
                    " keep one of the two, or give judges names of their own"
                )
            for label in (judgement.first, judgement.final, judgement.truth):
                if label is not None and kind not in (None, type(label)):
                    raise OptionError(
                        f"expected verdicts of one kind in all lines, A, B and tie or numbers, got {label!r}"
                    )
                kind = kind if label is None else type(label)
            new[key] = where
        self._places[path] |= new
        self._kind = kind


def has_pairs(columns: Iterable[str], players: tuple[str, str]) -> bool:
    """Returns whether rows with these columns hold a battle of two players each."""
    found = frozenset(columns)
    return found.issuperset(players) and bool(found.intersection((*_VERDICT, "score")) or found.issuperset(_SHARES))


def read_vote(row: dict[str, Any], path: Path, where: str, *, players: tuple[str, str]) -> Iterator[Result]:
    """Yields the battle in a row, and the judgement if there is a judge.

    Args:
        row: fields by column.
        path: the file.
        where: place of the row in the file, the item if it has no question.
        players: columns of the side shown first and of the other side.

    Raises:
        OptionError: if the row has no result.
    """
    verdict = _read_verdict(row, players)
    yield Result(
        _battle(row, verdict),
        verdict.environment,
        _judgement(row, verdict, f"{path.name}, {where}") if verdict.judge else None,
        verdict.is_first,
    )


def read_judgement(row: dict[str, Any], path: Path, where: str) -> Iterator[Result]:
    """Yields the judgement in a row, which may have no players; a row of Auto-Arena has several, or lengths.

    Args:
        row: fields by column.
        path: the file, the judge of a row with ``left`` and ``right`` that names none.
        where: place of the row in the file.

    Raises:
        OptionError: if a row has no judgement.
    """
    if "gamekey" in row:
        yield from read_debate(row, path, where)
        return
    known = (names for names in PLAYERS.values() if row.keys() >= {*names} and any(map(row.get, names)))
    players = next(known, None)
    verdict = _read_verdict(row, players)
    if not verdict.judge:
        judge = _field(row, _JUDGE, path.stem if players == PLAYERS["pairwise"] else _MISSING)
        verdict = verdict._replace(judge=name_of(judge))
    if not row.keys() >= _SHARES.keys():
        _field(row, _VERDICT, empty=True)
    yield Result(None, verdict.environment, _judgement(row, verdict), verdict.is_first)


class _Verdict(NamedTuple):
    """The verdict in a row.

    Attributes:
        label: the verdict; ``None`` for an abstention, or if the row has a score only.
        players: shown first and second; empty if the row has none.
        question: name of the item without the players; empty if the row has none.
        judge: empty if the row has none.
        environment: empty if the row has none.
        is_first: whether the verdict was given before discussion.
        is_swapped: whether the players were shown in reverse order.
        truth: the right verdict; ``None`` if unknown.
    """

    label: Label | None
    players: tuple[str, str]
    question: str
    judge: str
    environment: str
    is_first: bool
    is_swapped: bool
    truth: Label | None = None


def _read_verdict(row: Mapping[str, Any], columns: tuple[str, str] | None) -> _Verdict:
    """Reads the verdict in a row; ``columns`` are of the players, or ``None`` without players."""
    shown = ("", "")
    if columns:
        shown = name_of(_field(row, columns[:1])), name_of(_field(row, columns[1:]))
    question = _optional(row, _ITEM) if columns else _field(row, _ITEM)
    judge, environment = _optional(row, _JUDGE), _optional(row, ("environment",))
    is_swapped = _choice(row, "order", _IS_SWAPPED)
    if is_swapped:
        shown = shown[::-1]
    return _Verdict(
        label=_label(_text(row), shown),
        players=shown,
        question=case_name(question),
        judge=name_of(judge) if judge else "",
        environment=name_of(environment) if environment else "",
        is_first=_choice(row, "stage", _IS_FIRST),
        is_swapped=is_swapped,
        truth=_label(_optional(row, ("truth",)), shown),
    )


def _text(row: Mapping[str, Any]) -> str:
    """Returns the verdict as written; empty without one."""
    if not row.keys() >= _SHARES.keys():
        return _optional(row, _VERDICT)
    chosen = [label for name, label in _SHARES.items() if _number(row, name) == 1]
    if len(chosen) != 1:
        raise OptionError(f"expected 1 in one of {', '.join(_SHARES)}, got it in {len(chosen)}")
    return chosen[0]


@lru_cache(1 << 12)
def _label(text: str, players: tuple[str, str]) -> Label | None:
    return read_label(" ".join(printable(text).split()), players)  # normalised like the names


def _battle(row: Mapping[str, Any], verdict: _Verdict) -> Battle | None:
    """Returns the battle in a row; ``None`` for a verdict before discussion and an abstention."""
    by_label = None if verdict.label is None else _score(verdict.label)
    score, weight = _number(row, "score"), _number(row, "weight")
    if score is not None and not 0 <= score <= 1:
        raise OptionError(f"score: expected 0 to 1, got {score:g}")
    if weight is not None and not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        raise OptionError(f"weight: expected {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, got {weight:g}")
    style = read_style(row)
    if verdict.is_swapped:
        score = None if score is None else 1 - score
        style = {name: (second, first) for name, (first, second) in style.items()}
    score = by_label if score is None else score
    if score is None and not verdict.judge:
        raise OptionError("expected a winner or a score, got neither")
    if score is None or verdict.is_first:
        return None
    battle = battle_of(verdict.players, score, verdict.question, 1.0 if weight is None else weight, style)
    return battle if verdict.truth is None else battle._replace(truth=_score(verdict.truth))


def _score(label: Label) -> float:
    if not isinstance(label, str):
        raise OptionError(f"expected A, B or tie, got {label:g}")
    return SCORES[label]


def _judgement(row: Mapping[str, Any], verdict: _Verdict, unnamed: str = "") -> Judgement:
    """Returns the judgement in a row; ``unnamed`` is the item if the row has no question.

    Each turn of a conversation is an item of its own.
    """
    question = verdict.question or unnamed
    if turn := _optional(row, ("turn",)):
        question = case_name(", ".join(filter(None, (question, f"turn {turn}"))))
    item, texts = _item_names(question, verdict.players)
    if verdict.is_swapped and not any(verdict.players):
        item = f"{item} (BA)"
    first, final = (verdict.label, None) if verdict.is_first else (None, verdict.label)
    return Judgement(
        item,
        verdict.judge,
        final,
        first=first,
        players=verdict.players,
        words=_words(row, verdict.is_swapped),
        texts_name=texts,
        truth=verdict.truth,
        part=case_name(_optional(row, ("task",))),
        deal=verdict.question,
    )


def _words(row: Mapping[str, Any], is_swapped: bool) -> tuple[float, float] | None:
    """Returns the lengths of the texts shown first and second; ``None`` without both."""
    words = []
    for name in ("words_b", "words_a") if is_swapped else ("words_a", "words_b"):
        number = _number(row, name)
        if number is not None and number < 0:
            raise OptionError(f"{name}: expected a number of words, got {number:g}")
        words.append(number)
    first, second = words
    return None if first is None or second is None else (first, second)


def _item_names(question: str, players: tuple[str, str]) -> tuple[str, str]:
    """Returns the names of an item and of its texts, which the same players in the other order share."""
    return item_name(question, players), item_name(question, (min(players), max(players)))


def read_debate(row: dict[str, Any], path: Path, where: str) -> Iterator[Result]:
    """Yields the judgements of a debate of Auto-Arena, with a battle for each last verdict, or the lengths of its sides.

    Raises:
        OptionError: if a row is neither the judgement of a debate nor a debate.
    """
    match row.get("gamekey"):
        case [str() | int() as question, str(first), str(second)]:
            question, players = case_name(str(question)), (name_of(first), name_of(second))
        case other:
            raise OptionError(f"gamekey: expected [question, player, player], got {str(other)!r:.60}")
    item, texts = _item_names(question, players)
    if "rounds" in row:
        yield Result(None, lengths=Lengths(item, _side_lengths(row["rounds"], (first, second))))
        return
    judges = row.get("judges")
    if not isinstance(judges, list) or not all(isinstance(judge, str) and judge for judge in judges):
        raise OptionError(f"judges: expected a list of names, got {str(judges)!r:.60}")
    if len(set(judges)) < len(judges):
        raise OptionError(f"judges: expected distinct names, got {judges!r:.80}")
    for judge in judges:
        match row.get(judge.strip().casefold()):
            case {"winner": [*earlier, last]}:
                winners = ["" if winner is None else str(winner) for winner in (*earlier[:1], last)]
                *before, final = (_label(winner, players) for winner in winners)
            case other:
                raise OptionError(f"{judge}: expected an object with a list `winner`, got {str(other)!r:.60}")
        battle = None if final is None else battle_of(players, _score(final), question)
        first_label = before[0] if before else None
        judgement = Judgement(
            item, name_of(judge), final, first=first_label, players=players, texts_name=texts, deal=question
        )
        yield Result(battle, judgement=judgement)


def _side_lengths(rounds: Any, players: tuple[str, str]) -> tuple[float, float]:
    """Returns the number of words of both sides of a debate."""
    if not isinstance(rounds, list):
        raise OptionError(f"rounds: expected a list, got {str(rounds)!r:.60}")
    words = [0.0, 0.0]
    for turn in rounds:
        match turn:
            case [str(role), {"no_thought": str(text)}]:
                side = players.index(role) if role in players else int(role.strip().casefold().endswith("b"))
                words[side] += len(text.split())
            case _:
                raise OptionError(f"rounds: expected [role, {{no_thought: text}}], got {str(turn)!r:.60}")
    return words[0], words[1]


def _field(row: Mapping[str, Any], names: Sequence[str], default: Any = _MISSING, *, empty: bool = False) -> str:
    """Returns the first field of a row with one of these names.

    Raises:
        OptionError: if there is none and no default, it is not text or a number, or it is empty and ``empty`` is false.
    """
    name = next((name for name in names if name in row), None)
    if name is None:
        if default is _MISSING:
            raise OptionError(f"expected a field {' or '.join(names)}, got {', '.join(map(str, row))!s:.200}")
        return str(default)
    value = row[name]
    if value is None:
        value = ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise OptionError(f"{name}: expected a text or a number, got {str(value)!r:.60}")
    if value == "" and not empty:
        raise OptionError(f"{name}: expected something, got an empty field")
    return str(value)


def _optional(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Returns the first field of a row with one of these names, or an empty text."""
    return _field(row, names, "", empty=True)


def _choice(row: Mapping[str, Any], name: str, known: Mapping[str, bool]) -> bool:
    value = _optional(row, (name,)).casefold()
    if value not in known:
        raise OptionError(f"{name}: expected one of {', '.join(filter(None, known))}, got {value!r:.60}")
    return known[value]


def _number(row: Mapping[str, Any], name: str) -> float | None:
    """Returns a number of a row, or ``None`` without one."""
    value = row.get(name)
    if value is None or (isinstance(value, str) and value.strip().casefold() in NOTHING):
        return None
    return finite_number(name, value)
