"""Extraction of questions from an examiner's reply: a numbered list as requested, a JSON list, bullets, or a single question.

Lines below a numbered one belong to it. Numbers count only if formatted and indented like the first one, and outside of fenced
code, so a list inside a question remains part of it. Extraction does not judge questions: see ``checks``.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from llmarena_envs.core.reading.markup import narrow
from llmarena_envs.core.reading.objects import find_objects, read_object
from llmarena_envs.core.replies import read_part

MAX_READ = 200
"""Maximum number of questions read from one reply."""

_LINE_BREAK = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_FENCE = re.compile(r"[ \t]*+(?:`{3,}+|~{3,}+)[ \t]*+(?P<language>[^\s`~]*+)[ \t]*+")
_NUMBER = re.compile(
    r"(?P<indent>[ \t]*+)"
    r"(?P<before>[#>*_\\ ]{0,8}+(?:(?:question|query|prompt|task|q|第|问题|题目|题)[ ]?)?+(?:no\.[ ]?|#)?+[(\[]?+)"
    r"\d{1,3}+(?P<after>\\?[)\]][.:]?|[ ]?题[.:]?|\\?[.:](?!\d)|(?=[*_]{2}))"
    r"[ \t]*+(?:[*_]{2}(?![*_]))?+[.:]?+[ \t]*+",
    re.IGNORECASE,
)
_BULLET = re.compile(r"(?P<indent>[ \t]*+)(?P<before>[-*•·])(?P<after>[ \t]++)")
_LABEL = re.compile(
    r"[*_]{0,2}+(?:question|query|prompt|task|问题|题目|提问)[*_]{0,2}+[:：][*_]{0,2}+\s*+", re.IGNORECASE
)
_PREAMBLE = re.compile(
    r"(?:(?:sure|certainly|of course|okay|absolutely|here(?:'s| is| are)|below)\b|好的|当然|以下|下面|这里)[^\n]{0,200}+",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"let me know|i hope|hope th|these (?:questions|queries)|feel free|note:|would you like|good luck|if you need|"
    r"if you(?:'d| would) like|希望这|希望以上|以上(?:就)?是|以上问题|如果(?:您|你)?(?:还)?需要|这些问题|如需",
    re.IGNORECASE,
)
_RULE = re.compile(r"[ \t]*+(?:-{3,}+|\*{3,}+|_{3,}+|={3,}+)[ \t]*+")
_ASKS = re.compile(r"[?？][\s\"'”’」*_)）]*+\Z")
_AROUND = {"**": "**", "__": "__", '"': '"', "'": "'", "“": "”", "「": "」", "『": "』", "`": "`"}
_FIELDS = ("question", "query", "prompt", "text", "问题")


class _Line(NamedTuple):
    """A line of a reply.

    Attributes:
        text: the original text.
        plain: the text with plain characters, the comma of Chinese lists as a full stop.
        depth: number of enclosing fences, including one it opens or closes.
        is_fence: whether it opens or closes a fence.
    """

    text: str
    plain: str
    depth: int
    is_fence: bool


def read_questions(reply: str) -> list[str]:
    """Returns the questions of a reply in order, in linear time.

    Args:
        reply: the examiner's reply.

    Returns:
        The texts, without numbers, enclosing markup and control characters; empty for an empty reply. A reply
        without numbers, bullets or a list is one question, or one per line if every line ends with a question mark.
    """
    lines = _lines(plain_text(read_part(reply)))
    found = _listed(lines) or _marked(lines, _NUMBER) or _marked(lines, _BULLET) or _unmarked(lines)
    questions = [_trim(each) for each in found[:MAX_READ]]
    return [question for question in questions if question]


def plain_text(text: str) -> str:
    """Normalizes line breaks, and removes control characters and unpaired surrogates."""
    return _UNPRINTABLE.sub("", _LINE_BREAK.sub("\n", text))


def _lines(text: str) -> list[_Line]:
    texts = text.split("\n")
    fences = {number: match["language"] for number, line in enumerate(texts) if (match := _FENCE.fullmatch(line))}
    steps = [0] * (len(texts) + 1)
    opened: list[int] = []
    for number, language in fences.items():
        if language or not opened:
            opened.append(number)
        else:
            steps[opened.pop()] += 1
            steps[number + 1] -= 1
    lines, depth = [], 0
    for number, (line, plain) in enumerate(zip(texts, narrow(text.replace("、", ".")).split("\n"), strict=True)):
        depth += steps[number]
        lines.append(_Line(line, plain, depth, number in fences))
    return lines


def _listed(lines: Sequence[_Line]) -> list[str]:
    """Returns the texts of a list in brackets that spans whole lines, or of such objects."""
    text = "\n".join(line.text for line in lines if not line.is_fence).strip()
    start = 0 if text.startswith(("[", "{")) else max(text.find("\n["), text.find("\n{")) + 1
    if not text.startswith(("[", "{"), start):
        return []
    end = max(text.rfind("]"), text.rfind("}")) + 1
    first = text.find("[", start)
    fields = read_object(f'{{"items": {text[first : text.rfind("]") + 1]}}}') if first >= 0 else None
    items: list[Any] = fields["items"] if fields and isinstance(fields["items"], list) else []
    items = items or [each for _, _, each in find_objects(text[start:end])]
    texts = [_field(item) for item in items]
    return [_without_number(each) for each in texts] if texts and all(texts) else []


def _without_number(text: str) -> str:
    match = _NUMBER.match(narrow(text))
    return text[match.end() :] if match else text


def _field(item: Any) -> str:
    if isinstance(item, str):
        return item
    values = [item[name] for name in _FIELDS if isinstance(item.get(name), str)] if isinstance(item, dict) else []
    return values[0] if values else ""


def _marked(lines: Sequence[_Line], mark: re.Pattern[str]) -> list[str]:
    """Returns the marked lines, each with the lines below it."""
    found: list[list[str]] = []
    style, depth = None, 0
    for line in lines:
        match = None if line.is_fence or (found and line.depth > depth) else mark.match(line.plain)
        if match and style in (None, _style(match)):
            if style is None:
                style, depth = _style(match), line.depth
            found.append([line.text[match.end() :]])
        elif found and not (line.is_fence and line.depth <= depth):
            found[-1].append(line.text)
    if found:
        found[-1] = _without_remark(found[-1])
    return ["\n".join(own) for own in found]


def _style(match: re.Match[str]) -> tuple[int, str, str]:
    return len(match["indent"].expandtabs()), match["before"].strip(" ").lower(), match["after"].strip()


def _unmarked(lines: Sequence[_Line]) -> list[str]:
    texts = [line.text for line in lines if not (line.is_fence and line.depth <= 1)]
    filled = [text.strip() for text in texts if text.strip()]
    if len(filled) > 1 and _PREAMBLE.fullmatch(filled[0]) and filled[0].endswith((":", "：", "!", "！", ".", "。")):
        texts = texts[next(number for number, text in enumerate(texts) if text.strip()) + 1 :]
        filled = filled[1:]
    if len(filled) > 1 and all(map(_ASKS.search, filled)):
        return filled
    return ["\n".join(_without_remark(texts))]


def _without_remark(texts: Sequence[str]) -> list[str]:
    """Drops a remark to the reader after the last question, in a paragraph of its own."""
    for number in range(1, len(texts)):
        if not texts[number - 1].strip() and _REMARK.match(texts[number].lstrip("*_> -")):
            return list(texts[:number])
    return list(texts)


def _trim(text: str) -> str:
    lines = [line.rstrip() for line in text.strip().split("\n")]
    while lines and (not lines[-1] or _RULE.fullmatch(lines[-1])):  # separator from the next one
        lines.pop()
    text = "\n".join(lines).strip()
    text = _LABEL.sub("", text, count=1) if _LABEL.match(text) else text
    for opening, closing in _AROUND.items():
        inner = text[len(opening) : -len(closing)]
        if (
            inner
            and text.startswith(opening)
            and text.endswith(closing)
            and opening not in inner
            and closing not in inner
        ):
            text = inner.strip()
    if text.endswith("**") and text.count("**") == 1:  # opened before the number
        text = text[:-2].rstrip()
    return text
