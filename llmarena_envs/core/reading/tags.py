"""Tags around answers, and around what is none."""

import re
from collections import deque
from functools import cache
from typing import NamedTuple

_ANSWERS = (
    r"(?:my|final|chosen|selected|best)?[_ -]?(?:answer|move|action|output|response|result|choice|decision|solution|reply|play|"
    r"selection)|final|tool_call|tool_use|function_call|function_calls|function|invoke|tool|begin_of_box|box_start|"
    r"begin_of_solution|最终答案|答案|回答|行动"
)
_OTHERS = (
    r"reasons?|explanations?|rationale|justification|comments?|notes?|confidence|examples?|alternatives?|opponent|predictions?|"
    r"expected|strategy|evaluation|options?|candidates?|board|state|history|summary|observation"
)
_ENDS = {"begin_of_box": "end_of_box", "box_start": "box_end", "begin_of_solution": "end_of_solution"}
_MAX_TAGS = 2_000


class Tag(NamedTuple):
    """A pair of tags.

    Attributes:
        start: where the opening tag begins.
        end: where the closing tag ends.
        inner_start: where the contents begin.
        inner_end: where they end.
        foreign: whether an answer cannot stand in it.
    """

    start: int
    end: int
    inner_start: int
    inner_end: int
    foreign: bool


@cache
def _pattern(nouns: str) -> re.Pattern[str]:
    names = (
        rf"(?P<answer>{_ANSWERS}|end_of_box|box_end|end_of_solution{'|' + nouns if nouns else ''})|(?P<other>{_OTHERS})"
    )
    return re.compile(
        rf"(?:<(?![<>\s])\|?|(?P<bracket>\[)(?![\[\]\s]))(?P<slash>/?)[ ]?(?:{names})"
        rf"(?:(?:=|[ ][a-z_-]{{1,20}}=)[^<>\[\]\n]{{0,100}})?(?:\|?>|\])",
        re.IGNORECASE,
    )


def find_tags(text: str, nouns: str) -> tuple[list[Tag], list[tuple[int, int]]]:
    """Returns the outermost pairs of tags in narrowed ``text``, in order, and where tags for answers stand without a partner.

    Args:
        text: the text.
        nouns: what else tags for answers are called, alternatives of a pattern.
    """
    matches = list(_pattern(nouns).finditer(text))[-_MAX_TAGS:]
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
        partners = closings.get(_ENDS.get(name, name), deque())
        while partners and partners[0].start() < match.end():
            partners.popleft()
        if not _closes(match) and partners:
            done = partners[0].end()
            pairs.append(Tag(match.start(), done, match.end(), partners[0].start(), match["other"] is not None))
        elif match["answer"] and not match["bracket"]:
            alone.append(match.span())
    return pairs, alone


def _name(match: re.Match[str]) -> str:
    return str(match["answer"] or match["other"]).lower()


def _closes(match: re.Match[str]) -> bool:
    return bool(match["slash"]) or _name(match) in _ENDS.values()
