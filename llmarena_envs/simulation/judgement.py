"""Reading and writing of judgements: text with a rating or a verdict in double brackets."""

from llmarena_envs.core.committee import Abstention, Judgement
from llmarena_envs.core.failures import ParseError
from llmarena_envs.core.judging import (
    ABSTENTION,
    is_abstention,
    join_statement,
    own_words,
    read_rating,
    read_verdict,
    with_statement,
)
from llmarena_envs.simulation.actions import Given, Rating
from llmarena_envs.simulation.protocol import SCALE

MAX_WORDS = 8_000
"""Maximum number of characters of a judge's text."""

_ROOM = 40
"""Characters of a longer reply reserved for the rating or verdict."""

LETTERS = {"A": "A", "B": "B", "tie": "C"}
"""Verdicts as written in brackets."""

_LABELS = {
    **{
        f"{name}{side}": side
        for side in "AB"
        for name in ("", "RESPONSE ", "ANSWER ", "ASSISTANT ", "回答", "回复", "回答 ")
    },
    **dict.fromkeys(("C", "TIE", "DRAW", "平局", "平手"), "tie"),
}


def read_judge(reply: str, *, compares: bool) -> Given:
    """Reads a rating or a verdict, and the surrounding text.

    Args:
        reply: the judge's reply.
        compares: whether to read a verdict on two responses instead of a rating of one.

    Raises:
        ParseError: if there is no clear rating, verdict or abstention, or the rating is out of range.
    """
    text = own_words(reply)
    if is_abstention(text):
        return Abstention()
    given = _stated(text, compares)
    if len(text) <= MAX_WORDS:
        return given
    return given._replace(text=_completed(given, text[: MAX_WORDS - _ROOM].rstrip()))


def write_judge(given: Given) -> str:
    """Writes a judgement: its text, with the rating or verdict appended if missing; or an abstention."""
    if isinstance(given, Abstention):
        return ABSTENTION
    return _completed(given, given.text)


def join_judge(explanation: str, value: str, *, compares: bool) -> str:
    """Writes a reply with an explanation and a rating from 1 to 10, or a verdict, ``A``, ``B`` or ``C``."""

    def states(text: str) -> bool:
        try:
            given = _stated(text, compares)
        except ParseError:
            return False
        return value == (f"{given.score:g}" if isinstance(given, Rating) else LETTERS[given.verdict])

    return join_statement(explanation, f"[[{value}]]" if compares else f"Rating: [[{value}]]", states)


def _stated(text: str, compares: bool) -> Rating | Judgement:
    return Judgement(read_verdict(text, _LABELS), text) if compares else Rating(read_rating(text, SCALE), text)


def _completed(given: Rating | Judgement, words: str) -> str:
    """Returns a judge's text, with the rating or verdict appended unless it states exactly that."""

    def states(text: str) -> bool:
        try:
            return _stated(text, isinstance(given, Judgement))._replace(text="") == given._replace(text="")
        except ParseError:
            return False

    line = f"Rating: [[{_digits(given.score)}]]" if isinstance(given, Rating) else f"[[{LETTERS[given.verdict]}]]"
    return with_statement(words, line, states)


def _digits(score: float) -> str:
    return f"{score:.6f}".rstrip("0").rstrip(".")
