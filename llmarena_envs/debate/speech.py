"""How a debater's turn is written and read: actions inside tags.

Tags are read strictly, so that nothing else is taken for one, but with tolerance for how models write them: in any case, with
attributes, in full-width brackets, without an end, inside each other, under their Chinese names. What stands inside thoughts is
never said aloud, whatever tags it holds. Of an action that is given several times the last one counts; thoughts add up. What
stands outside of all tags counts as the response if one is asked for and none is given. Everything in linear time.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from llmarena_envs.core.quoting import printable, tidy
from llmarena_envs.core.reading.markup import narrow
from llmarena_envs.core.reading.reasoning import drop_reasoning
from llmarena_envs.core.replies import MAX_REPLY
from llmarena_envs.debate.actions import Part, Speech
from llmarena_envs.debate.protocol import ACTIONS, CRITICIZE, RAISE, RESPOND, THINK

MAX_SPEECH = 60_000
"""Characters of a turn that are kept: more than any budget has room for."""

_NAMES = {
    **{name: name for name in ACTIONS},
    **dict.fromkeys(("thinking", "thought", "thoughts", "思考"), THINK),
    **dict.fromkeys(("response", "回应", "回答"), RESPOND),
    **dict.fromkeys(("criticise", "criticism", "批评"), CRITICIZE),
    **dict.fromkeys(("提问", "追问", "质疑"), RAISE),
}
_TAG = re.compile(
    rf"[<\[][ ]?(?P<slash>/?)[ ]?(?P<name>{'|'.join(sorted(_NAMES, key=len, reverse=True))})"
    r"(?P<attributes>[ :=][^<>\[\]/\n]{0,80}+)?(?P<empty>/?)[ ]?(?P<close>[>\]])",
    re.IGNORECASE | re.ASCII,  # in Unicode other letters than its own would match a name
)
_ANGLES = "<＜"
_TITLE_MARKS = "〈《"
_BRACKETS = "【［〔"
_FENCE = re.compile(r"\s*+(`{3,}+|~{3,}+)[a-zA-Z]{0,10}+[ \t]*+\n(?P<inside>.*)\n[ \t]*+\1\s*+", re.DOTALL)


class _Tag(NamedTuple):
    start: int
    end: int
    action: str
    closes: bool
    is_empty: bool


class _Said(NamedTuple):
    start: int
    action: str
    pieces: list[str]


def read_speech(reply: str, actions: tuple[str, ...]) -> Speech:
    """Returns what a reply gives.

    Args:
        reply: what the debater wrote.
        actions: what is asked for, besides thoughts.
    """
    text = printable(reply[:MAX_REPLY])
    fence = _FENCE.fullmatch(text)
    said, loose = _parts(fence["inside"] if fence else text)
    if RESPOND in actions and all(part.action != RESPOND for part in said):
        rest = tidy(drop_reasoning(loose))
        said += [Part(RESPOND, rest)] if rest else []
    return Speech(tuple(_shortened(_merged(said))))


def write_speech(speech: Speech, actions: tuple[str, ...] = ()) -> str:
    """Writes the parts of a turn inside their tags, with an empty one for each of ``actions`` that is not among them."""
    given = [part.action for part in speech.parts]
    parts = (*speech.parts, *(Part(action, "") for action in actions if action not in given))
    return "\n".join(f"<{action}>{text}</{action}>" for action, text in parts)


def _parts(text: str) -> tuple[list[Part], str]:
    """Returns the parts of a text in the order in which they begin, and what stands outside of them."""
    said: list[_Said] = []
    loose: list[str] = []
    opened: list[_Said] = []  # each action once at most

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
        elif tag.closes and tag.action == THINK:  # it began before the reply, or before what was not meant as a tag
            start = opened[0].start if opened else tag.start
            said.append(_Said(start, THINK, [*loose, *(piece for each in opened for piece in each.pieces)]))
            loose.clear()
            opened.clear()
        if not tag.closes:
            if opened and opened[-1].action == THINK:  # an action ends thoughts that have no end
                close(THINK)
            opened.append(_Said(tag.start, tag.action, []))
        if tag.is_empty:
            close(tag.action)
    (opened[-1].pieces if opened else loose).append(text[position:])
    close("")
    said.sort(key=lambda each: each.start)
    return [Part(each.action, tidy("\n".join(each.pieces))) for each in said], "\n".join(loose)


def _tags(text: str) -> Iterator[_Tag]:
    """Yields the tags of a text, without those inside thoughts that are closed."""
    tags = [_tag(match) for match in _TAG.finditer(narrow(text)) if _is_tag(match, text[match.start()])]
    ends = _ends_of_thoughts(tags)
    hidden = 0
    for number, tag in enumerate(tags):
        if number >= hidden:
            hidden = ends.get(number, 0)
            yield tag


def _is_tag(match: re.Match[str], opening: str) -> bool:
    """Says whether what looks like a tag in narrowed text is one, by the sign that opens it."""
    if opening in _BRACKETS:
        return match["close"] == "]" and not match["attributes"]
    title = opening in _TITLE_MARKS and match["name"].isascii()  # a title in Chinese may be a word such as criticism
    return match["close"] == ">" and (title or opening in _ANGLES)


def _tag(match: re.Match[str]) -> _Tag:
    closes = bool(match["slash"])
    return _Tag(match.start(), match.end(), _NAMES[match["name"].lower()], closes, bool(match["empty"]) and not closes)


def _ends_of_thoughts(tags: list[_Tag]) -> dict[int, int]:
    """Returns for each opening tag of thoughts that the next tag of thoughts closes, the number of that one."""
    ends: dict[int, int] = {}
    last: int | None = None
    for number, tag in enumerate(tags):
        if tag.action == THINK and not tag.is_empty:
            if tag.closes and last is not None:
                ends[last] = number
            last = None if tag.closes else number
    return ends


def _merged(said: Iterable[Part]) -> list[Part]:
    """Returns parts of which each action but thoughts is the last of its kind; thoughts that stand together are one."""
    parts = list(said)
    last = {part.action: number for number, part in enumerate(parts)}
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
    """Returns parts without what is beyond the longest turn."""
    left = MAX_SPEECH
    shortened = []
    for action, text in parts:
        shortened.append(Part(action, text[:left].rstrip()))
        left -= len(shortened[-1].text)
    return [part for part in shortened if part.text or part.action != THINK]
