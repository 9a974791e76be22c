"""Reading and writing of a debater's turn: actions inside tags.

Tags are read strictly, to avoid false matches, but tolerate common variants of models: any case, attributes, full-width
brackets, missing ends, nesting, and Chinese names. The content of thoughts is never public, even with tags in it. Inside a
closed action, tags in code are text, and so are other spellings of its own tag, as ``<response>`` in an answer about XML. Of a
repeated action the last non-empty one counts; thoughts are concatenated. Text outside of all tags is the response if one is
required and missing. All in linear time.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from llmarena_envs.core.quoting import printable, tidy, without_marks
from llmarena_envs.core.reading.markup import drop_reasoning, final_channel, narrow
from llmarena_envs.core.replies import MAX_THOUGHT
from llmarena_envs.core.text_length import share
from llmarena_envs.debate.actions import Part, Speech
from llmarena_envs.debate.protocol import ACTIONS, CRITICIZE, RAISE, RESPOND, THINK

MAX_SPEECH = 60_000
"""Maximum number of characters of a turn, more than any budget."""

_NAMES = {
    **{name: name for name in ACTIONS},
    **dict.fromkeys(("thinking", "thought", "thoughts", "思考"), THINK),
    **dict.fromkeys(("response", "回应", "回答"), RESPOND),
    **dict.fromkeys(("criticise", "criticism", "critique", "批评"), CRITICIZE),
    **dict.fromkeys(("提问", "追问", "质疑"), RAISE),
}
_SPELLINGS = {action: frozenset(name for name, named in _NAMES.items() if named == action) for action in ACTIONS}
_TAG = re.compile(
    rf"[<\[][ ]?(?P<slash>/?)[ ]?(?P<name>{'|'.join(sorted(_NAMES, key=len, reverse=True))})"
    r"(?P<attributes>[ :=][^<>\[\]/\n]{0,80}+)?(?P<empty>/?)[ ]?(?P<close>[>\]])",
    re.IGNORECASE | re.ASCII,  # in Unicode, other letters would match a name
)
_ANGLES = "<＜"
_TITLE_MARKS = "〈《"
_BRACKETS = "【［〔"
_FENCE = re.compile(r"\s*+(`{3,}+|~{3,}+)[a-zA-Z]{0,10}+[ \t]*+\n(?P<inside>.*)\n[ \t]*+\1\s*+", re.DOTALL)
_FENCE_LINE = re.compile(r"(?:^|(?<=>))[ \t]*+(?P<fence>`{3,}+|~{3,}+)(?P<label>[^\n`<]*+)(?=[<\n]|\Z)", re.MULTILINE)
_INLINE_CODE = re.compile(r"(?<!`)(`{1,2}+)(?!`)(?:[^`\n]|(?!\1(?!`))`++)*+\1")


class _Tag(NamedTuple):
    start: int
    end: int
    name: str
    action: str
    closes: bool
    is_empty: bool


class _Said(NamedTuple):
    start: int
    action: str
    pieces: list[str]


def read_speech(reply: str, actions: tuple[str, ...]) -> Speech:
    """Reads the parts of a reply.

    Args:
        reply: the debater's reply.
        actions: the required actions, besides thoughts.
    """
    text = printable(reply[:MAX_THOUGHT])
    fence = _FENCE.fullmatch(text)
    said, loose = _parts(final_channel(fence["inside"] if fence else text))
    if RESPOND in actions and not any(part.action == RESPOND and part.text for part in said):
        rest = tidy(drop_reasoning(loose))
        said += [Part(RESPOND, rest)] if rest else []
    return Speech(tuple(_shortened(_merged(said))))


def write_speech(speech: Speech, actions: tuple[str, ...] = ()) -> str:
    """Writes the parts of a turn inside their tags, with an empty one for each missing action of ``actions``."""
    given = [part.action for part in speech.parts]
    parts = (*speech.parts, *(Part(action, "") for action in actions if action not in given))
    return "\n".join(f"<{action}>{text}</{action}>" for action, text in parts)


def join_speech(texts: Mapping[str, str], actions: Sequence[str]) -> str:
    """Writes a turn from the texts of its parts, which ``read_speech`` reads back.

    Tags and code marks in the texts are replaced if they would end a part or hide its end.

    Args:
        texts: text by action; actions without a text are missing.
        actions: the required actions, besides thoughts.
    """
    given = [(action, tidy(printable(texts.get(action, "")))) for action in (THINK, *actions)]
    written = ""
    for replaced in (str, _without_tags, without_marks):
        parts = tuple(Part(action, replaced(text)) for action, text in given if text)
        written = write_speech(Speech(parts))
        if read_speech(written, tuple(actions)).parts == parts:
            break
    return written


def _without_tags(text: str) -> str:
    """Replaces the brackets of tags by parentheses."""
    pieces, position = [], 0
    for match in _TAG.finditer(narrow(text)):
        pieces += [text[position : match.start()], without_marks(text[match.start() : match.end()])]
        position = match.end()
    return "".join([*pieces, text[position:]])


def _parts(text: str) -> tuple[list[Part], str]:
    """Returns the parts of a text in the order of their starts, and the text outside of them."""
    said: list[_Said] = []
    loose: list[str] = []
    opened: list[_Said] = []  # each action at most once

    def close(action: str) -> None:
        while opened:
            said.append(opened.pop())
            if said[-1].action == action:
                return

    position = 0
    for tag in _tags(text):
        (opened[-1].pieces if opened else loose).append(text[position : tag.start])
        position = tag.end
        if any(each.action == tag.action for each in opened):
            close(tag.action)
        elif tag.closes and tag.action == THINK:  # it began before the reply, or before a rejected tag
            start = opened[0].start if opened else tag.start
            said.append(_Said(start, THINK, [*loose, *(piece for each in opened for piece in each.pieces)]))
            loose.clear()
            opened.clear()
        if not tag.closes:
            if opened and opened[-1].action == THINK:  # an action ends unclosed thoughts
                close(THINK)
            opened.append(_Said(tag.start, tag.action, []))
        if tag.is_empty:
            close(tag.action)
    (opened[-1].pieces if opened else loose).append(text[position:])
    close("")
    said.sort(key=lambda each: each.start)
    return [Part(each.action, tidy("\n".join(each.pieces))) for each in said], "\n".join(loose)


def _tags(text: str) -> Iterator[_Tag]:
    """Yields the tags of a text, except those inside closed thoughts."""
    found = [_tag(match) for match in _TAG.finditer(narrow(text)) if _is_tag(match, text[match.start()])]
    tags = list(_without_mentioned(found, _in_code(found, text)))
    ends = _ends_of_thoughts(tags)
    hidden = 0
    for number, tag in enumerate(tags):
        if number >= hidden:
            hidden = ends.get(number, 0)
            yield tag


def _is_tag(match: re.Match[str], opening: str) -> bool:
    """Returns whether a match in narrowed text is a tag, given its opening character."""
    if opening in _BRACKETS:
        return match["close"] == "]" and not match["attributes"]
    title = opening in _TITLE_MARKS and match["name"].isascii()  # a title in Chinese can be a word such as criticism
    return match["close"] == ">" and (title or opening in _ANGLES)


def _tag(match: re.Match[str]) -> _Tag:
    closes, name = bool(match["slash"]), match["name"].lower()
    return _Tag(match.start(), match.end(), name, _NAMES[name], closes, bool(match["empty"]) and not closes)


def _in_code(tags: Sequence[_Tag], text: str) -> list[bool]:
    """Returns for each tag whether it is inside a block or a span of code."""
    if not tags:
        return []
    pieces = [list(_blocks(text)), [match.span() for match in _INLINE_CODE.finditer(text)]]
    return [any(_is_within(tag, spans) for spans in pieces) for tag in tags]


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yields the start and end of code blocks; ignores unclosed ones."""
    opened: re.Match[str] | None = None
    for line in _FENCE_LINE.finditer(text):
        if opened is None:
            opened = line
        elif line["fence"].startswith(opened["fence"]) and not line["label"].strip():
            yield opened.start(), line.end()
            opened = None


def _is_within(tag: _Tag, spans: Sequence[tuple[int, int]]) -> bool:
    number = bisect_right(spans, (tag.start, tag.start)) - 1
    return number >= 0 and tag.end <= spans[number][1]


def _without_mentioned(tags: Sequence[_Tag], in_code: Sequence[bool]) -> Iterator[_Tag]:
    """Yields tags except those mentioned within a closed action: in code, or other spellings of its own tag."""
    number = 0
    while number < len(tags):
        tag, is_code = tags[number], in_code[number]
        yield tag
        number += 1
        if tag.closes or tag.is_empty or tag.action == THINK or is_code:
            continue
        end = number
        while end < len(tags) and (in_code[end] or tags[end].name in _other_spellings(tag)):
            end += 1
        if end < len(tags) and tags[end].closes and tags[end].name == tag.name:
            number = end


def _other_spellings(tag: _Tag) -> frozenset[str]:
    """Returns the other spellings of a tag's action."""
    return _SPELLINGS[tag.action] - {tag.name} if tag.name == tag.action else frozenset()


def _ends_of_thoughts(tags: list[_Tag]) -> dict[int, int]:
    """Maps each opening tag of thoughts closed by the next tag of thoughts to the number of its closing tag."""
    ends: dict[int, int] = {}
    last: int | None = None
    for number, tag in enumerate(tags):
        if tag.action == THINK and not tag.is_empty:
            if tag.closes and last is not None:
                ends[last] = number
            last = None if tag.closes else number
    return ends


def _merged(said: Iterable[Part]) -> list[Part]:
    """Keeps for each action except thoughts only the last non-empty part.

    Joins adjacent thoughts.
    """
    parts = list(said)
    last = {part.action: number for number, part in enumerate(parts)}
    last |= {part.action: number for number, part in enumerate(parts) if part.text}
    merged: list[Part] = []
    for number, part in enumerate(parts):
        if part.action != THINK:
            if last[part.action] == number:
                merged.append(part)
        elif part.text and merged and merged[-1].action == THINK:
            merged[-1] = Part(THINK, f"{merged[-1].text}\n{part.text}")
        elif part.text:
            merged.append(part)
    return merged


def _shortened(parts: list[Part]) -> list[Part]:
    """Returns parts cut to the maximum turn length, thoughts first."""
    said = [len(part.text) for part in parts if part.action != THINK]
    room = share(MAX_SPEECH, said)
    left = MAX_SPEECH - sum(room)
    shortened = []
    for action, text in parts:
        kept = text[: left if action == THINK else room.pop(0)].rstrip()
        left -= len(kept) if action == THINK else 0
        shortened.append(Part(action, kept))
    return [part for part in shortened if part.text or part.action != THINK]
