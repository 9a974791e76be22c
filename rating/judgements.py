"""Judgements: one judge's verdict on one item, its labels, and the judgements of a run."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from llmarena_envs.core.declaration import Truth, Verdicts, role_of
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.reading.markup import narrow
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
        truth: the right verdict, in terms of the same positions; ``None`` if unknown.
        part: task of the item, e.g. to compare judges between tasks; empty if unknown.
        deal: deal or question, whose items are not independent; empty if the item is a case of its own.
    """

    item: str
    judge: str
    final: Label | None
    first: Label | None = None
    again: Label | None = None
    players: tuple[str, str] = ("", "")
    words: tuple[float, float] | None = None
    texts_name: str = ""
    truth: Label | None = None
    part: str = ""
    deal: str = ""

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


def item_name(item: str, players: tuple[str, ...]) -> str:
    """Returns the name of an item: a question, the players in the order shown, or both."""
    shown = " / ".join(players) if players[0] else ""
    return ": ".join(part for part in (item, shown) if part)


def declared_verdicts(environment: str) -> Verdicts | None:
    """Returns the declared verdicts of an environment, or ``None`` without any."""
    return load_environment(environment).declaration.verdicts


def declared_truths(environment: str) -> tuple[Truth, ...]:
    """Returns the declared truths of an environment."""
    return load_environment(environment).declaration.truths


def judgements_of(outcomes: Iterable[Outcome], verdicts: Verdicts, truths: Sequence[Truth] = ()) -> list[Judgement]:
    """Returns the judgements in outcome order.

    A policy on several judge seats counts as several judges: the second one is called ``name (2)``.

    Args:
        outcomes: of one environment; unfinished matches are skipped.
        verdicts: the environment's declaration.
        truths: the same, to add the right verdicts.
    """
    found = []
    for outcome in outcomes:
        if outcome.status in PLAYED:
            players, words = _sides(outcome, verdicts)
            truth, part = _truth(outcome, verdicts, truths)
            names: Counter[str] = Counter()
            for seat in outcome.seats:
                if not seat.rated and role_of(seat.agent) == verdicts.role:
                    names[seat.policy] += 1
                    name = seat.policy if names[seat.policy] == 1 else f"{seat.policy} ({names[seat.policy]})"
                    judgement = _judgement(f"match {outcome.number}", name, seat, players, words, verdicts)
                    found.append(judgement._replace(truth=truth, part=part, deal=str(outcome.seed)))
    return found


def judged_seats(outcome: Outcome, truths: Sequence[Truth]) -> tuple[Truth, list[SeatOutcome]] | None:
    """Returns the truth of a match, with the rated seats of its role; ``None`` without one."""
    for truth in truths:
        seats = [seat for seat in outcome.seats if seat.rated and role_of(seat.agent) == truth.role]
        if any(truth.statistic in seat.statistics for seat in seats):
            return truth, seats
    return None


def exact_value(seat: SeatOutcome, truth: Truth) -> float | None:
    """Returns the quality of a seat's work, 0 to 1; ``None`` if unknown."""
    value = seat.statistics.get(truth.statistic, -1.0)
    return value / truth.best if 0 <= value <= truth.best else None


def task_of(seat: SeatOutcome, truth: Truth) -> str:
    """Returns the name of a seat's task; empty if unknown."""
    number = seat.statistics.get(truth.part, -1.0)
    return f"task {number:g}" if number >= 0 else ""


def _truth(outcome: Outcome, verdicts: Verdicts, truths: Sequence[Truth]) -> tuple[Label | None, str]:
    """Returns the right verdict on a match, or ``None``, and its task."""
    found = judged_seats(outcome, truths)
    if found is None:
        return None, ""
    truth, seats = found
    exact, part = [exact_value(seat, truth) for seat in seats], task_of(seats[0], truth)
    low, high = truth.scores
    if len(exact) == 1 and exact[0] is not None:
        return low + exact[0] * (high - low), part
    if len(exact) == 2 and None not in exact:
        sides = sorted(zip((seat.statistics.get(verdicts.side, -1.0) for seat in seats), exact, strict=True))
        (number, first), (_, second) = sides
        if verdicts.labels.get(number) == FIRST and first is not None and second is not None:
            return TIE if first == second else FIRST if first > second else SECOND, part
    return None, part


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
