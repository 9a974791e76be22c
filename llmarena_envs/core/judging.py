r"""Judging: how verdicts and scores are read. One place for all judged tasks.

What is judged reaches a judge quoted (``core.quoting``), so that nothing in it can pass for a line of the environment. What a
judge says is read strictly: a verdict or a rating stands in double brackets, scores of several roles in one JSON object. Nothing
else counts, and nothing is guessed. A judge that states none is asked again; if it never does, the environment counts an
abstention, which is a value of its own and no score::

    read_verdict("Both are right, but A is shorter. [[A]]", {"A": "A", "B": "B", "TIE": "tie"}).label  # "A"
    read_rating("Content right, format flawed. Rating: [[6]]", Scale(1, 10)).score  # 6.0
    read_scores('{"Writer": {"score": 7}, "Editor": {"score": 9}}', ("Writer", "Editor"), Scale(1, 10))["Editor"].score  # 9.0

Sources: Auto-Arena (arXiv 2405.20267, section 3.3), SimulBench (arXiv 2409.07641, section 3.2), DeepEval (arXiv 2309.04369,
appendix A.1).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from llmarena_envs.core.failures import Failure, Refusal
from llmarena_envs.core.quoting import printable, tidy
from llmarena_envs.core.reading.labels import CHINESE_DIGITS, DIGIT_WORDS
from llmarena_envs.core.reading.markup import narrow
from llmarena_envs.core.reading.objects import find_objects
from llmarena_envs.core.replies import clean_text, quoted, read_part

ABSTENTION = "abstain"
"""What a judge writes who gives no verdict and no score."""

_CONTENT = r"[ \t]{0,20}+([^\[\]\n]{1,40}?)[ \t]{0,20}"
_DOUBLE = re.compile(rf"\[\[{_CONTENT}\]\]")
_SINGLE = re.compile(rf"(?<!\[)\[{_CONTENT}\](?!\])")
_NUMBER = re.compile(r"(\d{1,6}(?:\.\d{0,6})?)(?:[ ]?(?:/|out of)[ ]?(\d{1,6}))?")
_ANNOUNCED = re.compile(r"(?:rating|score|评分|分数|得分|打分)[\s:*_是为]{0,9}\Z", re.IGNORECASE)
_AFTER_ALL = " \t\n*_`.!。"
"""What may stand behind a rating that ends a reply."""
_QUOTED = re.compile(r"^[ \t]*+>[^\n]*+", re.MULTILINE)
_MAX_PASSES = 8
_WORDS = {
    word: number
    for words in ((*DIGIT_WORDS[1:], "ten"), f"{CHINESE_DIGITS[1:]}十")
    for number, word in enumerate(words, 1)
}


@dataclass(frozen=True)
class Scale:
    """The range of scores.

    Attributes:
        low: the least.
        high: the greatest.
    """

    low: float
    high: float

    def check(self, score: float, what: str) -> float:
        """Returns a score that lies on the scale.

        Raises:
            Refusal: if it does not.
        """
        if not self.low <= score <= self.high:
            raise Refusal(
                Failure.ILLEGAL,
                "score_outside",
                what=what,
                score=f"{score:g}",
                low=f"{self.low:g}",
                high=f"{self.high:g}",
            )
        return score


class Verdict(NamedTuple):
    """What a judge has decided.

    Attributes:
        label: the verdict.
        several: whether the reply names other verdicts in brackets too; the last one counts.
        single_brackets: whether it stands in single brackets, which counts where there are no double ones.
    """

    label: str
    several: bool
    single_brackets: bool


class Score(NamedTuple):
    """What a judge gives.

    Attributes:
        score: the number.
        reason: on what it is based, as far as the judge says so in the place for it.
        several: whether the reply gives other numbers too; the last one counts.
    """

    score: float
    reason: str = ""
    several: bool = False


def own_words(reply: str) -> str:
    """Returns a reply without reasoning, unprintable signs, and more blanks than a text needs."""
    text = reply
    for _ in range(_MAX_PASSES):
        before, text = text, tidy(printable(read_part(text)))
        if text == before:
            break
    return text


def unquoted(text: str) -> str:
    """Returns a judge's words without the lines that begin with ``>``, in which it quotes what was said to it."""
    return _QUOTED.sub("", text)


def is_abstention(reply: str) -> bool:
    """Says whether a reply is nothing but the word for an abstention."""
    return len(reply) < 100 and clean_text(reply).strip(" .!。").lower() == ABSTENTION


def read_verdict(reply: str, labels: Mapping[str, str]) -> Verdict:
    """Reads the last verdict in brackets.

    Args:
        reply: what the judge wrote.
        labels: the verdicts by what may stand in the brackets, in upper case, e.g. ``{"A": "A", "B": "B", "TIE": "tie"}``.

    Raises:
        Refusal: if there is none.
    """
    text = narrow(read_part(reply))
    for pattern in (_DOUBLE, _SINGLE):
        stated = [labels[content.upper()] for content in pattern.findall(text) if content.upper() in labels]
        if stated:
            return Verdict(stated[-1], len(set(stated)) > 1, pattern is _SINGLE)
    raise Refusal(Failure.UNPARSABLE, "no_verdict")


def read_rating(reply: str, scale: Scale) -> Score:
    """Reads the last number in brackets.

    Args:
        reply: what the judge wrote. Single brackets count where there are no double ones, at its end or behind ``Rating:``;
            elsewhere they may belong to what is judged, as in ``row[3]``.
        scale: of the rating; ``[[7/10]]`` is read where its end is 10.

    Raises:
        Refusal: if there is none, or it lies outside the scale.
    """
    text = narrow(read_part(reply))
    end = len(text.rstrip(_AFTER_ALL))
    single = [
        match[1]
        for match in _SINGLE.finditer(text)
        if match.end() == end or _ANNOUNCED.search(text, max(0, match.start() - 20), match.start())
    ]
    for contents in (_DOUBLE.findall(text), single):
        numbers = [number for content in contents if (number := _number(content, scale)) is not None]
        if numbers:
            return Score(scale.check(numbers[-1], "rating"), several=len(set(numbers)) > 1)
    raise Refusal(Failure.UNPARSABLE, "no_rating")


def read_scores(reply: str, roles: Sequence[str], scale: Scale) -> dict[str, Score]:
    """Reads a JSON judgement: an object with a field for each role, which is a score or an object with ``score``.

    The last object that names a role counts. Case and blanks of keys make no difference, a comma may be left behind, and a score
    may be written as ``"8"``, ``"8/10"`` or ``"eight"``.

    Args:
        reply: what the judge wrote.
        roles: the roles, e.g. ``("Programmer", "Reviewer")``.
        scale: of the scores.

    Returns:
        The score of every role.

    Raises:
        Refusal: if there is no such object, a role is missing, or a score is none or lies outside the scale.
    """
    names = {_key(role): role for role in roles}
    text = read_part(reply)
    judgements: list[dict[str, Any]] = []
    for readable in (text, narrow(text)):  # made plain, a quotation inside a text would end it
        judgements = judgements or [fields for fields in _objects(readable) if fields.keys() & names.keys()]
    if not judgements:
        raise Refusal(Failure.UNPARSABLE, "no_scores", roles=", ".join(roles))
    last = judgements[-1]
    missing = [role for key, role in names.items() if key not in last]
    if missing:
        raise Refusal(Failure.UNPARSABLE, "score_missing", role=", ".join(missing))
    several = any(judgement != last for judgement in judgements)
    return {role: _score(role, last[key], scale, several) for key, role in names.items()}


def _score(role: str, value: Any, scale: Scale, several: bool) -> Score:
    reason = ""
    if isinstance(value, Mapping):
        fields = {_key(name): content for name, content in value.items()}
        value = fields.pop("score", None)
        reason = " ".join(str(content) for content in fields.values() if isinstance(content, str))
    number = _number(str(value), scale) if isinstance(value, int | str) and not isinstance(value, bool) else None
    if number is None:
        raise Refusal(Failure.UNPARSABLE, "no_score", role=role, got=quoted(str(value)))
    return Score(scale.check(number, role), reason, several)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yields the objects of a text with their keys made plain, and those inside them after the ones that hold them."""
    waiting: list[Any] = [fields for _, _, fields in find_objects(text)][::-1]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            yield {_key(name): content for name, content in value.items()}
            waiting += list(value.values())[::-1]
        elif isinstance(value, list):
            waiting += value[::-1]


def _key(name: str) -> str:
    return "".join(name.split()).casefold()


def _number(text: str, scale: Scale) -> float | None:
    """Reads a number as it is written for people; one out of another greatest number is none of this scale."""
    text = " ".join(text.strip("*_` ").split()).lower()
    if text in _WORDS:
        return float(_WORDS[text])
    match = _NUMBER.fullmatch(text)
    if match is None or (match[2] and float(match[2]) != scale.high):
        return float(text) if re.fullmatch(r"-\d{1,6}(?:\.\d{1,6})?", text) else None
    return float(match[1])
