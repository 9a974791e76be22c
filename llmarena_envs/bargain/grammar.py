"""Grammar of offers and acceptances in a reply."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from llmarena_envs.bargain.game import ITEMS, Action, Deal, Offer
from llmarena_envs.bargain.scenarios import Triple
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.replies import Grammar, clean_text, find, quoted

MAX_MESSAGE = 2_000
"""Maximum number of message characters sent to the other side: the last ones before the plan."""

_MAX_DIGITS = 9
_WORDS = {
    word: number
    for number, words in enumerate(
        (
            "no zero 零 〇",
            "a an one 一",
            "two 二 两",
            "three 三",
            "four 四",
            "five 五",
            "six 六",
            "seven 七",
            "eight 八",
            "nine 九",
            "ten 十",
        )
    )
    for word in words.split()
}
# The canonical form of ``write_action``, tried first: it needs no search.
_PUBLISHED = re.compile(r"(player_[01]): ([0-9]) hats? ([0-9]) balls? ([0-9]) apples?")
_NUMBER = r"[-+]?\d+(?:[.,]\d+)?|" + "|".join(
    rf"\b{word}\b" if word.isascii() else word for word in sorted(_WORDS, key=len, reverse=True)
)
_NAMES = {"hat": 0, "hats": 0, "帽": 0, "帽子": 0, "ball": 1, "balls": 1, "球": 1, "apple": 2, "apples": 2, "苹果": 2}
_NAME = r"hats?\b|balls?\b|apples?\b|帽子?|球|苹果"
_ITEM = re.compile(
    rf"({_NUMBER})(?:\s*[x×])?(?:\s*[顶个只颗])?\s*({_NAME})|({_NAME})(?:\s*[:=x×])?\s*({_NUMBER})[顶个只颗]?",
    re.IGNORECASE,
)
_OPENING = re.compile(r"(?:[-*•][ \t]++)?[\"'(\[<]*+")
_END_OF_MESSAGE = re.compile(r"(?:^|\n)[ \t]*+(?:```|~~~)[\w+-]{0,20}[ \t]*+$")
_OPENING_MARKUP = "{[(<\"'*`#-• \t"
_MESSAGE_LABEL = re.compile(
    r"^[ \t*_#>-]*+(?:my[ ])?(?:message|消息|留言)[ \t*_]*+[:：][ \t*_]*+", re.IGNORECASE | re.MULTILINE
)
_MESSAGE_KEYS = ("message", "text", "say", "speech", "utterance", "消息")
_BETWEEN = re.compile(r"(?:[\s,;.、。/|&+]|[-*•–—](?=\s))*(?:(?:and|plus)\b|和|与|以及)?\s*", re.IGNORECASE)
_DEAL = re.compile(r"deal\b|成交", re.IGNORECASE)
_ONLY_PUNCTUATION = re.compile(r"[^\w?%]*")
_REMARK_FOLLOWS = re.compile(r"\s*+(?:[^\w\s]|$|because\b|since\b|因为)", re.IGNORECASE)
# Signs of more than an acceptance: a condition, a question, a number or an item.
_MORE_THAN_DEAL = re.compile(
    r"\d|\?|\b(?:if|but|only|provided|unless|when|once|plus|add|with|without|not?|or|as long|however|give|gets?)\b"
    rf"|{_NAME}|如果|但|只要|加|不",
    re.IGNORECASE,
)


@cache  # 216 triples at most
def plan_text(counts: Triple) -> str:
    """Returns counts in the published form, e.g. ``2 hats 1 ball 0 apples``."""
    return " ".join(
        f"{count} {item.removesuffix('s') if count == 1 else item}" for count, item in zip(counts, ITEMS, strict=True)
    )


def write_action(agent: str, action: Action) -> str:
    """Writes an action as a reply of ``agent``: the message, then ``player_0: 2 hats 1 ball 0 apples`` or ``player_0: Deal``.

    A blank line separates them if the plan would otherwise belong to the message, as after "For example:". A message
    that still hides the plan is dropped, so the result can always be parsed.
    """
    if isinstance(action, Deal):
        return f"{agent}: Deal"
    statement = f"{agent}: {plan_text(action.counts)}"
    if action.message:
        for written in (f"{action.message}\n{statement}", f"{action.message}\n\n{statement}"):
            if _reads_as(written, agent, action):
                return written
    return statement


def _reads_as(reply: str, agent: str, action: Action) -> bool:
    try:
        return read_action(reply, agent) == action
    except ParseError:
        return False


def read_action(reply: str, agent: str) -> Action:
    """Reads the plan or acceptance in a reply of ``agent``, and the free text before a plan.

    Raises:
        ParseError: if there is no action, if it is ambiguous, or if it speaks for the other side.
    """
    published = _PUBLISHED.fullmatch(reply)
    if published and published[1] == agent:
        return Offer((int(published[2]), int(published[3]), int(published[4])))
    if reply == f"{agent}: Deal":
        return Deal()
    action, before, fields = find(reply, GRAMMAR, agent)
    if isinstance(action, Deal):
        return action
    told = _told(fields)
    return Offer(action.counts, read_message(before if told is None else told))


def _told(fields: Mapping[str, Any]) -> str | None:
    """Returns the message of an object, or of its call arguments."""
    for arguments in (fields, *fields.values()):
        if isinstance(arguments, Mapping):
            for key, told in arguments.items():
                if key.lower() in _MESSAGE_KEYS and isinstance(told, str):
                    return told
    return None


def read_message(text: str) -> str:
    """Returns the free text before a plan as sent to the other side."""
    text = text[-2 * MAX_MESSAGE :]
    labels = list(_MESSAGE_LABEL.finditer(text))
    if labels:
        text = text[labels[-1].end() :]
    if not text.endswith("\n"):
        text = text.rstrip(_OPENING_MARKUP)
    return clean_text(clean_text(_END_OF_MESSAGE.sub("", text))[-MAX_MESSAGE:])


def read_statement(text: str, labelled: bool) -> tuple[Action, int] | None:
    """Reads a plan or ``Deal``, possibly of multiple lines, at the beginning of ``text``; returns it with its end position.

    An unlabelled line with further words is free text.

    Raises:
        ParseError: if a plan is ambiguous.
    """
    opening = _OPENING.match(text)
    position = opening.end() if opening else 0
    accepted = _DEAL.match(text, position)
    if accepted:
        rest = _rest_of_line(text, accepted.end())
        if not _REMARK_FOLLOWS.match(rest) or _MORE_THAN_DEAL.search(rest):
            if not labelled:
                return None
            raise ParseError(Failure.UNPARSABLE, "more_than_deal")
        return Deal(), accepted.end()
    counts: dict[int, int] = {}
    match = _ITEM.match(text, position)
    while match:
        kind = _NAMES[(match[2] or match[3]).lower()]
        if kind in counts:
            raise ParseError(Failure.UNPARSABLE, "item_twice", item=ITEMS[kind])
        counts[kind] = _read_number(match[1] or match[4])
        position = match.end()
        if len(counts) == len(ITEMS):
            break
        between = _BETWEEN.match(text, position)
        match = _ITEM.match(text, between.end() if between else position)
    if not counts:
        return None
    rest = _rest_of_line(text, position)
    clear = _REMARK_FOLLOWS.match(rest) if len(counts) == len(ITEMS) else _ONLY_PUNCTUATION.fullmatch(rest)
    if not clear:
        if not labelled:
            return None
        raise ParseError(Failure.UNPARSABLE, "not_a_plan", text=quoted(rest))
    return _offer(counts), position


def _rest_of_line(text: str, start: int) -> str:
    end = text.find("\n", start)
    return text[start:] if end < 0 else text[start:end]


def _offer(counts: dict[int, int]) -> Offer:
    return Offer((counts.get(0, 0), counts.get(1, 0), counts.get(2, 0)))


def _read_number(text: str) -> int:
    word = _WORDS.get(text.lower())
    if word is not None:
        return word
    if not text.lstrip("+-").isdecimal():
        raise ParseError(Failure.UNPARSABLE, "not_whole", number=quoted(text))
    if len(text) > _MAX_DIGITS:
        raise ParseError(Failure.ILLEGAL, "far_too_many")
    return int(text)


def _read_fields(fields: Mapping[str, Any]) -> Action | None:
    """Reads ``{"deal": true}`` or ``{"hats": 1, "balls": 0, "apples": 2}``; missing items count as 0."""
    counts = {_NAMES[key]: _read_number(str(number)) for key, number in fields.items() if key in _NAMES}
    accepts = fields.get("deal") is True or fields.get("accept") is True
    if counts and accepts:
        raise ParseError(Failure.UNPARSABLE, "plan_and_deal")
    return Deal() if accepts else _offer(counts) if counts else None


GRAMMAR = Grammar(
    read_statement,
    nouns="plan|offer|proposal|i (?:want|propose|offer|take)|方案|提议|我要|我想要|我提议",
    fields=_read_fields,
    lines=len(ITEMS),
    bare="last",
)
