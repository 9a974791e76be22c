"""Tags around answers and around other text."""

import re
from collections import deque
from functools import cache
from typing import NamedTuple

from llmarena_envs.core.reading.calls import is_no_move

_ANSWERS = (
    r"(?:my|final|chosen|selected|best)?[_ -]?(?:answer|move|action|output|response|result|choice|decision|solution|reply|play|"
    r"selection)|final|tool_call|tool_use|function_call|function_calls|function|invoke|tool|begin_of_box|box_start|"
    r"begin_of_solution|最终答案|答案|回答|行动"
)
_OTHERS = (
    r"reasons?|explanations?|rationale|justification|comments?|notes?|confidence|examples?|alternatives?|opponent|predictions?|"
    r"expected|strategy|evaluation|options?|candidates?|board|state|history|summary|observation|details|log|debug|draft|plan|thoughts?"
)
_ENDS = {"begin_of_box": "end_of_box", "box_start": "box_end", "begin_of_solution": "end_of_solution"}
_MAX_TAGS = 2_000


class Tag(NamedTuple):
    """A pair of tags.

    Attributes:
        start: start of the opening tag.
        end: end of the closing tag.
        inner_start: start of the contents.
        inner_end: end of the contents.
        foreign: whether its contents cannot be an answer.
    """

    start: int
    end: int
    inner_start: int
    inner_end: int
    foreign: bool


# A tag of any name; names are looked up afterwards, because trying every name at every sign is slow.
_TAG = re.compile(
    r"(?:<[ ]?\|?|(?P<bracket>\[))(?P<slash>/?)[ ]?(?P<name>[^\W\d_][\w-]{0,30}+(?:[ ][a-z]{1,12}(?=[ |>\]])){0,2})"
    r"(?P<attribute>(?:=|[ ][a-z_-]{1,20}=)[^<>\[\]\n]{0,100})?[ ]?(?:\|?>|\])",
    re.IGNORECASE,
)
_CALLS = frozenset(("function", "invoke", "tool", "tool_call", "tool_use", "function_call"))
_CALLED = re.compile(r"=[\"' ]*+([\w.-]++)")


@cache
def _names(nouns: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<answer>{_ANSWERS}|end_of_box|box_end|end_of_solution{'|' + nouns if nouns else ''})|(?P<other>{_OTHERS})",
        re.IGNORECASE,
    )


def find_tags(text: str, nouns: str) -> tuple[list[Tag], list[tuple[int, int]]]:
    """Returns the outermost pairs of tags in narrowed ``text``, in order, and the spans of unpaired answer tags.

    Args:
        text: the text.
        nouns: further names of answer tags, as alternatives of a pattern.
    """
    names = _names(nouns)
    kinds: dict[str, re.Match[str] | None] = {}
    matches = []
    for match in _TAG.finditer(text):
        name = _name(match)
        if name not in kinds:
            kinds[name] = names.fullmatch(name)
        if kinds[name]:
            matches.append(match)
    matches = matches[-_MAX_TAGS:]
    closings: dict[str, deque[re.Match[str]]] = {}
    for match in matches:
        if _closes(match):
            closings.setdefault(_name(match), deque()).append(match)
    pairs: list[Tag] = []
    alone: list[tuple[int, int]] = []
    done = 0
    for match in matches:
        if match.start() < done:
            continue
        name = _name(match)
        kind = kinds[name]
        is_answer = kind is not None and kind["answer"] is not None
        partners = closings.get(_ENDS.get(name, name), deque())
        while partners and partners[0].start() < match.end():
            partners.popleft()
        if not _closes(match) and partners:
            done = partners[0].end()
            foreign = not is_answer or _calls_no_move(name, match["attribute"])
            pairs.append(Tag(match.start(), done, match.end(), partners[0].start(), foreign))
        elif is_answer and not match["bracket"]:
            alone.append(match.span())
    return pairs, alone


def _calls_no_move(name: str, attribute: str | None) -> bool:
    called = _CALLED.search(attribute) if attribute and name in _CALLS else None
    return called is not None and is_no_move(called[1])


def _name(match: re.Match[str]) -> str:
    return match["name"].lower()


def _closes(match: re.Match[str]) -> bool:
    return bool(match["slash"]) or _name(match) in _ENDS.values()
