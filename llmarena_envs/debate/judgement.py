"""How judges' replies are read and written: their words with a verdict in double brackets."""

from llmarena_envs.core.committee import VERDICTS, Abstention, Given, Judgement
from llmarena_envs.core.failures import Refusal
from llmarena_envs.core.judging import ABSTENTION, Verdict, is_abstention, own_words, read_verdict, unquoted
from llmarena_envs.core.text_length import TextCounter
from llmarena_envs.debate.protocol import SIDES

JUDGEMENT_WORDS = 300
"""Greatest number of words of a judgement."""

_LABELS = {
    **{f"{name}{side}": side for side in SIDES for name in ("", "ASSISTANT ", "ASSISTANT_", "助手", "助手 ")},
    **dict.fromkeys(("TIE", "DRAW", "平局", "平手"), "tie"),
}
_ROOM = 8
"""Words of a judgement that are left for its verdict where that stands beyond the limit."""


def read_judgement(reply: str, counter: TextCounter) -> Given:
    """Reads a judgement: the last verdict in brackets, and what is said with it, cut to the limit.

    What stands in lines that begin with ``>`` is quoted, and no verdict.

    Raises:
        Refusal: if there is no verdict and it is no abstention.
    """
    text = own_words(reply)
    if is_abstention(text):
        return Abstention()
    verdict = _verdict(text)
    limit = counter.budget(JUDGEMENT_WORDS)
    words = counter.cut(text, limit).rstrip()
    if words != text and _states(words) != verdict:
        words = f"{counter.cut(text, limit - counter.budget(_ROOM)).rstrip()}\n{_written(verdict)}"
    return Judgement(verdict.label, words, verdict.several, verdict.single_brackets)


def write_judgement(given: Given) -> str:
    """Writes a judgement, which is its text, with the verdict at its end if it does not state it; or an abstention."""
    if not isinstance(given, Judgement):
        return ABSTENTION
    stated = _states(given.text)
    verdict = Verdict(given.verdict, given.several, given.single_brackets)
    return given.text if stated and stated.label == given.verdict else f"{given.text}\n{_written(verdict)}".lstrip()


def _verdict(text: str) -> Verdict:
    return read_verdict(unquoted(text), _LABELS)


def _states(text: str) -> Verdict | None:
    try:
        return _verdict(text)
    except Refusal:
        return None


def _written(verdict: Verdict) -> str:
    """Returns a verdict in its brackets, behind another one if several were named."""
    other = next(label for label in VERDICTS if label != verdict.label)
    labels = [other, verdict.label] if verdict.several else [verdict.label]
    written = " ".join(f"[{label.capitalize()}]" for label in labels)
    return written if verdict.single_brackets else " ".join(f"[{each}]" for each in written.split())
