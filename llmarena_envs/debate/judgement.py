"""Reading and writing of judgements: text with a verdict in double brackets."""

from llmarena_envs.core.committee import Abstention, Given, Judgement
from llmarena_envs.core.failures import ParseError
from llmarena_envs.core.judging import (
    ABSTENTION,
    is_abstention,
    join_statement,
    own_words,
    read_verdict,
    with_statement,
)
from llmarena_envs.core.text_length import TextCounter
from llmarena_envs.debate.protocol import SIDES

JUDGEMENT_WORDS = 300
"""Maximum number of words of a judgement."""

_LABELS = {
    **{f"{name}{side}": side for side in SIDES for name in ("", "ASSISTANT ", "ASSISTANT_", "助手", "助手 ")},
    **dict.fromkeys(("TIE", "DRAW", "平局", "平手"), "tie"),
}
_ROOM = 8
"""Words reserved for the verdict of a judgement over the limit."""


def read_judgement(reply: str, counter: TextCounter) -> Given:
    """Reads a judgement: the verdict, and the surrounding text, cut to the limit.

    Raises:
        ParseError: if there is neither a clear verdict nor an abstention.
    """
    text = own_words(reply)
    if is_abstention(text):
        return Abstention()
    verdict = read_verdict(text, _LABELS)
    limit = counter.budget(JUDGEMENT_WORDS)
    words = counter.cut(text, limit).rstrip()
    if words != text and not _states(words, verdict):
        words = counter.cut(text, limit - counter.budget(_ROOM)).rstrip()
    return Judgement(verdict, _completed(words, verdict))


def join_judgement(explanation: str, verdict: str) -> str:
    """Writes a reply with an explanation and a verdict, ``A``, ``B`` or ``tie``."""
    return join_statement(explanation, f"[[{verdict.capitalize()}]]", lambda text: _states(text, verdict))


def write_judgement(given: Given) -> str:
    """Writes a judgement: its text, with the verdict appended if missing; or an abstention."""
    return _completed(given.text, given.verdict) if isinstance(given, Judgement) else ABSTENTION


def _completed(words: str, verdict: str) -> str:
    return with_statement(words, f"[[{verdict.capitalize()}]]", lambda text: _states(text, verdict))


def _states(text: str, verdict: str) -> bool:
    try:
        return read_verdict(text, _LABELS) == verdict
    except ParseError:
        return False
