"""Judgements: one judge's verdict on one item, from files or from the records of a run.

Files are tables (CSV), JSON lines, JSON arrays, and logs of Auto-Arena. Fields and their accepted names:

| field | names | |
|---|---|---|
| item | ``item``, ``question_id``, ``prompt``, ``id`` | together with the two players, if present |
| judge | ``judge``, ``reviewer``, ``worker``, ``annotator`` | optional with ``left`` and ``right``: the file name by default |
| verdict | ``verdict``, ``winner`` | A, B or tie in any spelling, or a number; empty for an abstention |
| players | ``a`` and ``b``, ``model_a`` and ``model_b``, ``left`` and ``right`` | shown first and second; optional |
| turn | ``turn`` | of a conversation; each turn is an item of its own; optional |
| stage | ``stage`` | ``first`` (before discussion) or ``final``; optional |
| order | ``order`` | ``AB``, or ``BA`` if the two were shown in reverse order; optional |
| lengths | ``words_a``, ``words_b`` | of the two players' texts; optional |

A verdict refers to the positions as the judge saw them: with the order ``BA``, ``A`` is a verdict for player b.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from llmarena_envs.core.declaration import Verdicts, role_of
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.reading.markup import narrow
from rating.rows import UnreadableRow, each_row
from rating.store.environments import load_environment
from rating.store.records import PLAYED, Outcome, SeatOutcome

FIRST = "A"
SECOND = "B"
TIE = "tie"

PREFERENCES = (FIRST, TIE, SECOND)
"""Verdicts on two sides: for the side shown first, a tie, for the other side."""

SCORES = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}
"""Scores of the side shown first."""

Label = str | float
"""A verdict: one of ``PREFERENCES``, or a number."""

SPELLINGS = {
    **dict.fromkeys(
        ("a", "first", "left", "model_a", "assistant_a", "assistant a", "助手a", "助手 a", "答案a", "左"), FIRST
    ),
    **dict.fromkeys(
        ("b", "second", "right", "model_b", "assistant_b", "assistant b", "助手b", "助手 b", "答案b", "右"), SECOND
    ),
    **dict.fromkeys(
        (
            "tie",
            "c",
            "draw",
            "equal",
            "tie (bothbad)",
            "tie (both bad)",
            "both bad",
            "bothbad",
            "both_bad",
            "平局",
            "平手",
            "平",
        ),
        TIE,
    ),
}
"""Verdicts on two sides by spelling, in lower case; surrounding punctuation is ignored."""

NOTHING = frozenset(("", "none", "null", "nan", "n/a", "na", "abstain", "abstention", "error", "弃权"))
"""Spellings of an abstention, in lower case."""

ITEM = ("item", "question_id", "prompt", "id")
JUDGE = ("judge", "reviewer", "worker", "annotator")
VERDICT = ("verdict", "winner")
PLAYERS = (("a", "b"), ("model_a", "model_b"), ("left", "right"))
STAGES = {
    **dict.fromkeys(("first", "before", "initial"), "first"),
    **dict.fromkeys(("final", "after", "discussion", ""), "final"),
}
ORDERS = {"": False, "ab": False, "ba": True}

_MISSING = object()


class Judgement(NamedTuple):
    """One judge's verdict on one item.

    Attributes:
        item: texts that were shown to judges in one order.
        judge: name of the judge.
        final: the verdict, the last one if there are several; ``None`` for an abstention.
        first: the verdict before discussion; ``None`` without one.
        again: the verdict on the same texts in the other order, in terms of the positions of this one; ``None`` without one.
        players: shown first and second; empty if unknown.
        words: number of words read of each; ``None`` if unknown.
        texts_name: name of the texts, shared by items that show them in different orders; empty if there is one order.
    """

    item: str
    judge: str
    final: Label | None
    first: Label | None = None
    again: Label | None = None
    players: tuple[str, str] = ("", "")
    words: tuple[float, float] | None = None
    texts_name: str = ""

    @property
    def texts(self) -> str:
        """The name of the judged texts, by default the item."""
        return self.texts_name or self.item


def exchanged(verdict: Label | None) -> Label | None:
    """Returns a verdict on two sides with the positions swapped."""
    return {FIRST: SECOND, SECOND: FIRST}.get(verdict, verdict) if isinstance(verdict, str) else verdict


def read_label(text: str, players: tuple[str, str] = ("", "")) -> Label | None:
    """Reads a verdict.

    Args:
        text: as written in a file. The name of a player is a verdict for it.
        players: shown first and second.

    Returns:
        ``None`` for an abstention.

    Raises:
        OptionError: if it is not a verdict.
    """
    word = " ".join(narrow(text).strip("[]*`\"' \t\n").split()).casefold()
    named = (FIRST, SECOND)[players.index(text)] if text in players and players[0] != players[1] else None
    if spelled := SPELLINGS.get(word):
        if named not in (None, spelled):
            raise OptionError(
                f"{text!r:.60} is the name of a player and a spelling of {spelled} too; give the player another name"
            )
        return spelled
    if named is not None:
        return named
    if word in NOTHING:
        return None
    if _is_number(word):
        return float(word)
    raise OptionError(f"expected A, B, tie or a number, got {text!r:.60}")


def _is_number(word: str) -> bool:
    digits = word.removeprefix("-").replace(".", "", 1)
    return len(word) <= 20 and digits.isascii() and digits.isdecimal()


def read_judgements(paths: Sequence[Path]) -> list[Judgement]:
    """Reads judgement files; items with the same name are the same item.

    Args:
        paths: the files. Debates of Auto-Arena among them give the lengths of the sides.

    Raises:
        OptionError: naming file and line, if a field is missing, a verdict unknown, or a judgement is repeated.
    """
    found = _Collection()
    for path in paths:
        for place, row in each_row(path):
            where = f"{path}, {place}"
            if isinstance(row, UnreadableRow):
                raise OptionError(f"{where}: {row.reason}")
            try:
                found.add_row(where, row, path.stem)
            except OptionError as error:
                raise OptionError(f"{where}: {error}") from None
    return found.judgements()


class _Collection:
    """Judgements as they are read: a line can hold a part of one."""

    def __init__(self) -> None:
        self._judgements: dict[tuple[str, str], Judgement] = {}
        self._lines: dict[tuple[str, str, str], str] = {}
        self._lengths: dict[str, tuple[float, float]] = {}
        self._numbers: bool | None = None

    def add_row(self, where: str, row: Mapping[str, Any], file: str) -> None:
        """Adds a row; ``where`` is its place, for the error about a repeated verdict."""
        if "gamekey" in row and "rounds" in row:
            self._add_lengths(row)
        elif "gamekey" in row:
            for judgement in committee(row):
                self._add(where, *judgement)
        else:
            self._add(where, *_plain(row, file))

    def _add(self, where: str, judgement: Judgement, stages: Mapping[str, str]) -> None:
        """Adds a judge's verdicts on an item, by stage."""
        for stage, text in stages.items():
            key = judgement.item, judgement.judge, stage
            if key in self._lines:
                raise OptionError(
                    f"the verdict of {judgement.judge!r:.60} on {judgement.item!r:.80} stands in {self._lines[key]} already;"
                    " keep one of the two, or give judges names of their own"
                )
            label = read_label(text, judgement.players)
            if label is not None:
                if self._numbers not in (None, isinstance(label, float)):
                    raise OptionError(
                        f"expected verdicts of one kind in all lines, A, B and tie or numbers, got {text!r:.60}"
                    )
                self._numbers = isinstance(label, float)
            known = self._judgements.get(key[:2], judgement)
            self._judgements[key[:2]] = known._replace(first=label) if stage == "first" else known._replace(final=label)
            self._lines[key] = where

    def _add_lengths(self, row: Mapping[str, Any]) -> None:
        """Adds the lengths of the sides of a debate."""
        item, players = _game(row)
        words = [0, 0]
        rounds = row["rounds"]
        if not isinstance(rounds, list):
            raise OptionError(f"rounds: expected a list, got {str(rounds)!r:.60}")
        for turn in rounds:
            match turn:
                case [str(role), {"no_thought": str(text)}]:
                    side = players.index(role) if role in players else int(role.strip().casefold().endswith("b"))
                    words[side] += len(text.split())
                case _:
                    raise OptionError(f"rounds: expected [role, {{no_thought: text}}], got {str(turn)!r:.60}")
        self._lengths[item_name(item, players)] = float(words[0]), float(words[1])

    def judgements(self) -> list[Judgement]:
        """Returns the judgements in file order."""
        return [one._replace(words=one.words or self._lengths.get(one.item)) for one in self._judgements.values()]


def _plain(row: Mapping[str, Any], file: str) -> tuple[Judgement, dict[str, str]]:
    pair = next((names for names in PLAYERS if all(name in row for name in names)), None)
    players = (field(row, pair[:1]), field(row, pair[1:])) if pair else ("", "")
    item = field(row, ITEM, "" if pair else _MISSING)
    if turn := optional(row, ("turn",)):
        item = f"{item}, turn {turn}"
    judge = field(row, JUDGE, file if pair == ("left", "right") else _MISSING)
    stage = _choice(row, "stage", STAGES)
    swapped = _choice(row, "order", ORDERS)
    words = (_number(row, "words_a"), _number(row, "words_b"))
    lengths = None if words[0] is None or words[1] is None else (words[0], words[1])
    if swapped:
        players = players[::-1]
        lengths = lengths and lengths[::-1]
    judgement = unjudged(item, judge, players, lengths)
    if swapped and not pair:
        judgement = judgement._replace(item=f"{item} (BA)")
    return judgement, {stage: field(row, VERDICT, empty=True)}


def committee(row: Mapping[str, Any]) -> Iterator[tuple[Judgement, dict[str, str]]]:
    """Yields the judgements in a line of the Auto-Arena judgement log: a committee's, before and after discussion."""
    item, players = _game(row)
    judges = row.get("judges")
    if not isinstance(judges, list) or not all(isinstance(judge, str) and judge for judge in judges):
        raise OptionError(f"judges: expected a list of names, got {str(judges)!r:.60}")
    if len(set(judges)) < len(judges):
        raise OptionError(f"judges: expected distinct names, got {judges!r:.80}")
    for judge in judges:
        said = row.get(judge.strip().casefold())
        winners = said.get("winner") if isinstance(said, Mapping) else None
        if not isinstance(winners, list) or not winners:
            raise OptionError(f"{judge}: expected an object with a list `winner`, got {str(said)!r:.60}")
        texts = ["" if winner is None else str(winner) for winner in winners]
        stages = {"first": texts[0]} if len(texts) > 1 else {}
        yield unjudged(item, judge, players), {**stages, "final": texts[-1]}


def _game(row: Mapping[str, Any]) -> tuple[str, tuple[str, str]]:
    match row["gamekey"]:
        case [str() | int() as question, str(first), str(second)]:
            return str(question), (first, second)
    raise OptionError(f"gamekey: expected [question, player, player], got {str(row['gamekey'])!r:.60}")


def unjudged(
    question: str, judge: str, players: tuple[str, str], words: tuple[float, float] | None = None
) -> Judgement:
    """Returns the judgement on a question, without the verdict; the same players in both orders share the texts."""
    texts = item_name(question, tuple(sorted(players)))
    return Judgement(item_name(question, players), judge, None, players=players, words=words, texts_name=texts)


def item_name(item: str, players: tuple[str, ...]) -> str:
    """Returns the name of an item: a question, the players in the order shown, or both."""
    shown = " / ".join(players) if players[0] else ""
    return ": ".join(part for part in (item, shown) if part)


def field(row: Mapping[str, Any], names: Sequence[str], default: Any = _MISSING, *, empty: bool = False) -> str:
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


def optional(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Returns the first field of a row with one of these names, or an empty text."""
    return field(row, names, "", empty=True)


def _choice(row: Mapping[str, Any], name: str, known: Mapping[str, Any]) -> Any:
    value = optional(row, (name,)).casefold()
    if value not in known:
        raise OptionError(f"{name}: expected one of {', '.join(filter(None, known))}, got {value!r:.60}")
    return known[value]


def _number(row: Mapping[str, Any], name: str) -> float | None:
    text = optional(row, (name,))
    try:
        value = float(text) if text else None
    except ValueError:
        value = -1.0
    if value is not None and not 0 <= value < 1e9:
        raise OptionError(f"{name}: expected a number of words, got {text!r:.60}")
    return value


def declared_verdicts(environment: str) -> Verdicts | None:
    """Returns the declared verdicts of an environment, or ``None`` without any."""
    return load_environment(environment).declaration.verdicts


def judgements_of(outcomes: Iterable[Outcome], verdicts: Verdicts) -> list[Judgement]:
    """Returns the judgements in outcome order.

    A policy on several judge seats counts as several judges: the second one is called ``name (2)``.

    Args:
        outcomes: of one environment; unfinished matches are skipped.
        verdicts: the environment's declaration.
    """
    found = []
    for outcome in outcomes:
        if outcome.status in PLAYED:
            players, words = _sides(outcome, verdicts)
            names: Counter[str] = Counter()
            for seat in outcome.seats:
                if not seat.rated and role_of(seat.agent) == verdicts.role:
                    names[seat.policy] += 1
                    name = seat.policy if names[seat.policy] == 1 else f"{seat.policy} ({names[seat.policy]})"
                    found.append(_judgement(f"match {outcome.number}", name, seat, players, words, verdicts))
    return found


def _judgement(
    item: str,
    judge: str,
    seat: SeatOutcome,
    players: tuple[str, str],
    words: tuple[float, float] | None,
    verdicts: Verdicts,
) -> Judgement:
    def label(statistic: str) -> Label | None:
        return verdicts.labels.get(seat.statistics.get(statistic, -1.0)) if statistic else None

    rating = seat.statistics.get(verdicts.score, -1.0) if verdicts.score else -1.0
    return Judgement(
        item,
        judge,
        label(verdicts.final) if rating < 0 else rating,
        first=label(verdicts.first) if verdicts.first != verdicts.final else None,
        again=label(verdicts.swapped),
        players=players,
        words=words,
    )


def _sides(outcome: Outcome, verdicts: Verdicts) -> tuple[tuple[str, str], tuple[float, float] | None]:
    """Returns the policies shown first and second, and the number of words read of each, if recorded."""
    by_side = {
        seat.statistics[verdicts.side]: seat
        for seat in outcome.seats
        if verdicts.side in seat.statistics and seat.rated
    }
    sides = [by_side.get(number) for number, label in sorted(verdicts.labels.items()) if label != TIE]
    if len(sides) != 2 or sides[0] is None or sides[1] is None:
        return ("", ""), None
    lengths = [seat.statistics.get(verdicts.length, -1.0) if verdicts.length else -1.0 for seat in sides if seat]
    words = (lengths[0], lengths[1]) if min(lengths) >= 0 else None
    return (sides[0].policy, sides[1].policy), words
