r"""Parsing of verdicts and scores, for all judged tasks.

A judge gets the judged texts quoted (``core.quoting``), so they cannot imitate a line of the environment. All judges' replies
are parsed by the same rule (``core.reading.judged``). Quotations, reasoning and forms repeated from the prompt do not count.
A single distinct value counts if the judge announces it; of several, the one alone on the last line or after a label such as
``Verdict:`` at the beginning of a line. Values in single or no brackets count in these positions only. Scores of several
roles are one JSON object. A judge whose reply is missing a value or ambiguous is asked again; after the last attempt the
environment counts an abstention, which is not a score::

    read_verdict("Both are right, but A is shorter. [[A]]", {"A": "A", "B": "B", "TIE": "tie"})  # "A"
    read_rating("Content right, format flawed.\nRating: [[6]]", Scale(1, 10))  # 6.0
    read_scores('{"Writer": {"score": 7}, "Editor": {"score": 9}}', ("Writer", "Editor"), Scale(1, 10))["Editor"].score  # 9.0

Sources: Auto-Arena (arXiv 2405.20267v1, section 3.3), SimulBench (arXiv 2409.07641, section 2.5), DeepEval (arXiv 2309.04369).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.quoting import printable, quote, tidy, without_marks
from llmarena_envs.core.reading import judged
from llmarena_envs.core.reading.grammar import CHINESE_DIGITS, DIGIT_WORDS, Grammar, Value
from llmarena_envs.core.reading.judged import Quotation, cover, find_quotations
from llmarena_envs.core.reading.markup import drop_opening_reasoning, narrow, reasoning_spans
from llmarena_envs.core.reading.objects import find_objects
from llmarena_envs.core.replies import MAX_REPLY, MAX_THOUGHT, clean_text, find, quoted

ABSTENTION = "abstain"
"""A judge's reply for an abstention."""

_NUMBER = re.compile(r"(\d{1,6}(?:\.\d{0,6})?)(?:[ ]?(?:/|out of)[ ]?(\d{1,6}))?(?:[ ]?(?:points?|分))?")
_NEGATIVE = re.compile(r"-\d{1,6}(?:\.\d{1,6})?")
_JSON_FENCES = ("json", "json5", "jsonc")
_BROKEN = r"\{{\s{{0,40}}[\"'“]?[ ]?(?:{names})[ ]?[\"'”]?\s{{0,9}}[:：]"
_SCORES = re.compile(r"scor|rating|evaluat|judge?ment|assess|final|draft|json|评分|打分|分数|评价", re.IGNORECASE)
"""Words that announce scores."""
_PLACEHOLDER = re.compile(
    r"([\"']score[\"']\s{0,9}:\s{0,9})(?:[a-z]|score|number|<[^<>\n]{1,40}>|\.\.\.)(?=\s{0,9}[,}])", re.IGNORECASE
)

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
        low: lowest score.
        high: highest score.
    """

    low: float
    high: float

    def check(self, score: float, role: str = "") -> float:
        """Returns a score if it is on the scale.

        Raises:
            ParseError: if it is outside the scale.
        """
        if not self.low <= score <= self.high:
            fields = {"score": f"{score:g}", "low": f"{self.low:g}", "high": f"{self.high:g}"}
            if role:
                raise ParseError(Failure.ILLEGAL, "score_outside", role=role, **fields)
            raise ParseError(Failure.ILLEGAL, "rating_outside", **fields)
        return score


class Score(NamedTuple):
    """A score of one role.

    Attributes:
        score: the number.
        reason: the judge's reason, from the field for it; empty if absent.
    """

    score: float
    reason: str = ""


def own_words(reply: str) -> str:
    """Returns a reply without leading reasoning, unprintable characters and superfluous whitespace."""
    text = reply
    for _ in range(_MAX_PASSES):
        before, text = text, tidy(printable(_read_part(text)))
        if text == before:
            break
    return text


def _read_part(reply: str) -> str:
    return drop_opening_reasoning(reply[-MAX_THOUGHT:])[-MAX_REPLY:]


def is_abstention(reply: str) -> bool:
    """Says whether a reply is only the word for an abstention."""
    return len(reply) < 100 and clean_text(reply).strip(" .!。").lower() == ABSTENTION


def read_verdict(reply: str, labels: Mapping[str, str]) -> str:
    """Parses a verdict.

    Args:
        reply: the judge's reply.
        labels: verdicts by bracket contents in upper case, e.g. ``{"A": "A", "B": "B", "TIE": "tie"}``.

    Raises:
        ParseError: if the verdict is missing or ambiguous.
    """

    def read(content: str) -> str | None:
        return labels.get(" ".join(content.upper().split()).removeprefix("A "))

    form = judged.Form(read, "no_verdict", "unclear_verdict", listed=(frozenset(labels.values()),))
    return judged.read_stated(_read_part(reply), form)


def read_rating(reply: str, scale: Scale) -> float:
    """Parses a rating.

    Args:
        reply: the judge's reply.
        scale: scale of the rating; ``[[7/10]]`` is valid if its highest score is 10.

    Raises:
        ParseError: if the rating is missing, ambiguous or outside the scale.
    """
    ends = (frozenset((scale.low, scale.high)), frozenset(range(round(scale.low), round(scale.high) + 1)))
    form = judged.Form(lambda content: _number(content, scale), "no_rating", "unclear_rating", ends)
    return scale.check(judged.read_stated(_read_part(reply), form))


def read_ruling(reply: str, grammar: Grammar[Value]) -> Value:
    """Parses a ruling in words, such as ``Verdict: yes``.

    Args:
        reply: the judge's reply.
        grammar: grammar of a ruling.

    Raises:
        ParseError: if the ruling is missing or ambiguous.
    """
    words = judged.without_quoted_labels(_read_part(reply))
    above = None
    for line in words.splitlines():
        places = judged.labelled(line)
        found = [ruling for place in places if (ruling := grammar.read(line[place:], True))]
        is_plain = len(found) == 1 and len(line) == places[0] + found[0][1] and len(line[: places[0]].split()) == 1
        values = {value for value, _ in found} | ({above} if above is not None and is_plain else set())
        if len(values) > 1:
            raise ParseError(Failure.UNPARSABLE, "unclear")
        above = found[0][0] if is_plain else None
    return find(words, grammar, "").value


def with_statement(words: str, line: str, states: Callable[[str], bool]) -> str:
    """Returns a judge's words with the statement appended as a line, unless they already state it.

    Args:
        words: the words, possibly cut off.
        line: the statement in its published form.
        states: says whether a text states the judge's value.
    """
    for text in (words, f"{words}\n{line}".lstrip()):
        if states(text):
            return text
    return f"{quote(words)}\n{line}"


def join_statement(words: str, line: str, states: Callable[[str], bool]) -> str:
    """Returns a reply of a judge with these words and this statement; see ``with_statement``.

    Marks in the words are replaced if they hide the statement, as an unclosed tag of reasoning does.
    """
    written = ""
    for text in (words, without_marks(words)):
        written = with_statement(text, line, lambda text: states(own_words(text)))
        if states(own_words(written)):
            break
    return written


def read_scores(reply: str, roles: Sequence[str], scale: Scale) -> dict[str, Score]:
    """Parses a JSON judgement: an object with a field for each role, which is a score or an object with ``score``.

    The outermost object that names a role counts, except quoted objects and the form from the prompt. Case and blanks of keys
    are ignored, trailing commas are accepted, and so are scores such as ``"8"``, ``"8/10"`` or ``"eight"``.

    Args:
        reply: the judge's reply.
        roles: the roles, e.g. ``("Programmer", "Reviewer")``.
        scale: scale of the scores.

    Returns:
        The score of every role.

    Raises:
        ParseError: if there is no such object, one is cut off, two differ, a role is missing, or a score is missing or outside
            the scale.
    """
    names = {_key(role): role for role in roles}
    text = judged.unquoted_whole(_PLACEHOLDER.sub(r"\1null", _read_part(reply)))
    judgements: list[dict[str, Any]] = []
    fault = "no_scores"
    for readable in dict.fromkeys((text, narrow(text))):  # raw first: a narrowed quotation mark can end a text
        if not judgements:
            judgements, fault = _judgements(readable, names)
    if fault:
        raise ParseError(Failure.UNPARSABLE, fault, roles=", ".join(roles))
    first = judgements[0]
    missing = [role for key, role in names.items() if key not in first]
    if len(judgements) == 1 and missing:
        raise ParseError(Failure.UNPARSABLE, "score_missing", role=", ".join(missing))
    if any(missing) or any(fields.keys() & names.keys() != names.keys() for fields in judgements):
        raise ParseError(Failure.UNPARSABLE, "unclear_scores", roles=", ".join(roles))
    given = [{role: _score(role, fields[key], scale) for key, role in names.items()} for fields in judgements]
    if any(each[role].score != given[0][role].score for each in given for role in roles):
        raise ParseError(Failure.UNPARSABLE, "unclear_scores", roles=", ".join(roles))
    return given[0]


def _judgements(text: str, names: Mapping[str, str]) -> tuple[list[dict[str, Any]], str]:
    """Returns the judge's own outermost objects that name a role, and the reason why they do not count (empty if they do)."""
    objects = list(find_objects(text))
    around = cover(text, [Quotation(start + 1, end, start, end) for start, end, _ in objects], "}")
    foreign = [each for each in find_quotations(around) if each.language not in _JSON_FENCES]
    foreign += [Quotation(start, end, start, end) for start, end in reasoning_spans(around)]
    found: list[dict[str, Any]] = []
    last, is_clear = 0, True
    for start, end, fields in objects:
        named = [each for each in _outermost(fields, names) if _is_filled(each, names)]
        if named and not any(each.start <= start < each.end for each in foreign):
            found += named
            last = end
            is_clear = is_clear and _is_apart(around, start, end)
    broken = re.compile(_BROKEN.format(names="|".join(map(re.escape, names.values()))), re.IGNORECASE)
    inside = [(start, end) for start, end, _ in objects] + [(each.start, each.end) for each in foreign]
    if any(not any(start <= match.start() < end for start, end in inside) for match in broken.finditer(text)):
        return found, "broken_scores"
    if not found:
        return found, "no_scores"
    return found, "" if is_clear and not judged.is_retracted(around, last) else "unclear_scores"


def _is_apart(text: str, start: int, end: int) -> bool:
    """Says whether an object is not part of a sentence, and a colon before it, if any, announces scores."""
    before, after = text[:start].rstrip(" \t\n*[`").rpartition("\n")[2], text[end:].partition("\n")[0]
    begins_line = text[:start].rpartition("\n")[2].rstrip(" \t*[-")[-1:] in ("", ".", "!", "。")
    announced = before.endswith((":", "："))
    return not any(map(str.isalnum, after)) and (_SCORES.search(before) is not None if announced else begins_line)


def _is_filled(fields: Mapping[str, Any], names: Mapping[str, str]) -> bool:
    """Says whether an object is more than the empty form from the prompt."""
    values = [fields[key] for key in names if key in fields]
    scores = [
        {_key(name): one for name, one in value.items()}.get("score") if isinstance(value, Mapping) else value
        for value in values
    ]
    return any(score is not None for score in scores)


def _outermost(value: Any, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yields the outermost objects that name a role, with normalized keys."""
    if isinstance(value, list):
        for item in value:
            yield from _outermost(item, names)
    elif isinstance(value, Mapping):
        fields = {_key(name): content for name, content in value.items()}
        if fields.keys() & names.keys():
            yield fields
        else:
            yield from _outermost(list(fields.values()), names)


def _score(role: str, value: Any, scale: Scale) -> Score:
    reason = ""
    if isinstance(value, Mapping):
        fields = {_key(name): content for name, content in value.items()}
        value = fields.pop("score", None)
        reason = " ".join(str(content) for content in fields.values() if isinstance(content, str))
    number = _number(str(value), scale) if isinstance(value, int | str) and not isinstance(value, bool) else None
    if number is None:
        raise ParseError(Failure.UNPARSABLE, "no_score", role=role, got=quoted(str(value)))
    return Score(scale.check(number, role), reason)


def _key(name: str) -> str:
    return "".join(name.split()).casefold()


def _number(text: str, scale: Scale) -> float | None:
    """Parses a number or number word; ``None`` if its denominator is not the highest score of the scale."""
    text = " ".join(text.strip("*_` ").split()).lower()
    if text in _WORDS:
        return float(_WORDS[text])
    match = _NUMBER.fullmatch(text)
    if match is None or (match[2] and float(match[2]) != scale.high):
        return float(text) if _NEGATIVE.fullmatch(text) else None
    return float(match[1])
