"""How offers and acceptances are written, and how they are read out of a reply."""

import json
import re
from functools import cache
from typing import Any

from llmarena_envs.bargain.game import ITEMS, Action, Deal, Offer
from llmarena_envs.bargain.scenarios import Triple
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.replies import json_objects, last_match, read_part

MAX_MESSAGE = 2_000
"""Characters of a message that reach the other side: the last ones before the plan."""

_MAX_DIGITS = 9
_MARKUP = "{[(<>\"'*`#-• \t"

# Narrowing keeps the length, so that what stands before a plan can be cut out of the reply as it was written.
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " ", ord("−"): "-"}
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)

_SPEAKER = re.compile(r"\bplayer(?:\\?_| )?(\d{1,3})[\"']?\s*[:=]\s*", re.IGNORECASE)

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
# The form in which every action is written by ``write_action``: recognised first, as it needs no search.
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
_OPENING = re.compile(r"(?:[-*•]\s+)?[\"'(\[<]*")
_BETWEEN = re.compile(r"(?:[\s,;.、。/|&+]|[-*•–—](?=\s))*(?:(?:and|plus)\b|和|与|以及)?\s*", re.IGNORECASE)
_DEAL = re.compile(r"deal\b|成交", re.IGNORECASE)
_ONLY_PUNCTUATION = re.compile(r"[\s.!,;。、\"'*)\]>}]*")
_REMARK_FOLLOWS = re.compile(r"\s*[.,;!?()。、\"'*\]>}–—-]|\s*$")


@cache  # 216 triples at most
def plan_text(counts: Triple) -> str:
    """Returns counts in the published form, e.g. ``2 hats 1 ball 0 apples``."""
    return " ".join(
        f"{count} {item.removesuffix('s') if count == 1 else item}" for count, item in zip(counts, ITEMS, strict=True)
    )


def write_action(agent: str, action: Action) -> str:
    """Writes an action as a reply of ``agent``: the message, then ``player_0: 2 hats 1 ball 0 apples`` or ``player_0: Deal``."""
    if isinstance(action, Deal):
        return f"{agent}: Deal"
    statement = f"{agent}: {plan_text(action.counts)}"
    return f"{action.message}\n{statement}" if action.message else statement


def read_action(reply: str, agent: str, may_accept: bool) -> Action:
    """Reads the last plan or acceptance stated in a reply of ``agent``, and the free text before a plan.

    A statement follows the name of its speaker, is a JSON object, or stands alone on the last line, a plan also as a list
    with one kind of item in each of the last lines.

    Args:
        reply: the reply.
        agent: whose it is.
        may_accept: whether an offer stands; it only decides what an error suggests.

    Raises:
        InvalidReply: if nothing is stated, if it cannot be understood with certainty, or if somebody else would be speaking.
    """
    raw = read_part(reply)
    start = raw.rfind("\n") + 1
    published = _PUBLISHED.fullmatch(raw, start)
    if published and published[1] == agent:
        return _with_message(Offer((int(published[2]), int(published[3]), int(published[4]))), raw[:start])
    text = _narrow(raw)
    label = last_match(_SPEAKER, text)
    spoken = label.end() if label else 0
    found = _last_json(text) if "{" in text else None
    if found is not None and found[1] > spoken:
        start, _, value = found
        return _with_message(_read_json(value), raw[:start])
    if label is not None:
        name = f"player_{int(label[1])}"
        if name != agent:
            raise InvalidReply(Failure.ILLEGAL, f"you are {agent} and cannot speak for {name}")
        said = _read_statement(text, label.end())
        if said is not None:
            return _with_message(said, raw[: label.start()])
    last = _last_lines(text)
    if last >= spoken:
        said = _read_statement(text, last)
        if said is not None:
            return _with_message(said, raw[:last])
    form = f"{agent}: {plan_text((1, 1, 1))}" + (f", or with {agent}: Deal" if may_accept else "")
    raise InvalidReply(Failure.UNPARSABLE, f"no plan was found; end the reply with one in the form {form}")


def _narrow(text: str) -> str:
    """Returns the text in plain notation: full-width characters narrowed, code fences and emphasis made spaces."""
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(lambda match: " " * len(match[0]), text)
    if not text.isascii():
        text = text.translate(_NARROW)
    return text.replace("`", " ").replace("**", "  ")


def _with_message(action: Action, before: str) -> Action:
    """Adds the free text that stands before a plan, without Markdown that opens the plan."""
    if isinstance(action, Deal):
        return action
    lines, newline, same_line = before.rpartition("\n")
    same_line = same_line.rstrip(" \t*`") if same_line.strip(_MARKUP) else ""
    message = (lines + newline + same_line).strip()[-MAX_MESSAGE:].strip()
    fences = [line.lstrip().startswith(("```", "~~~")) for line in message.split("\n")]
    if fences[-1] and sum(fences) % 2:
        message = message.rpartition("\n")[0].strip()
    return Offer(action.counts, message)


def _read_statement(text: str, start: int) -> Action | None:
    """Reads the plan or acceptance that begins at ``start``; ``None`` if none begins there.

    Items that are left out count as 0. So that nothing is misread, no words may follow a ``Deal`` or a plan with items left
    out, and after a full plan only a new sentence or a remark in brackets.

    Raises:
        InvalidReply: if a statement begins there but is not clear.
    """
    position = _OPENING.match(text, start).end()  # type: ignore[union-attr]
    accepted = _DEAL.match(text, position)
    if accepted:
        if not _ONLY_PUNCTUATION.fullmatch(_rest_of_line(text, accepted.end())):
            raise InvalidReply(
                Failure.UNPARSABLE, "to accept, write nothing after Deal; a plan is not accepted in part"
            )
        return Deal()
    counts: dict[int, int] = {}
    match = _ITEM.match(text, position)
    while match:
        kind = _NAMES[(match[2] or match[3]).lower()]
        if kind in counts:
            raise InvalidReply(Failure.UNPARSABLE, f"the plan names {ITEMS[kind]} twice; name every item once")
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
        form = plan_text((1, 1, 1))
        raise InvalidReply(
            Failure.UNPARSABLE,
            f"after your name write nothing but a plan in the form {form}; {rest[:40]!r} was not understood",
        )
    return _offer(counts)


def _last_lines(text: str) -> int:
    """Returns where the last line begins, or the list of items that it ends."""
    start = text.rfind("\n", 0, len(text.rstrip())) + 1
    for _ in ITEMS[1:]:
        before = text.rfind("\n", 0, len(text[:start].rstrip())) + 1
        if not (_is_item(text, start) and _is_item(text, before)):
            break
        start = before
    return start


def _is_item(text: str, start: int) -> bool:
    """Says whether a line holds one kind of item with its number and nothing else."""
    item = _ITEM.match(text, _OPENING.match(text, start).end())  # type: ignore[union-attr]
    return item is not None and _ONLY_PUNCTUATION.fullmatch(_rest_of_line(text, item.end())) is not None


def _rest_of_line(text: str, start: int) -> str:
    return text[start:].partition("\n")[0]


def _offer(counts: dict[int, int]) -> Offer:
    return Offer((counts.get(0, 0), counts.get(1, 0), counts.get(2, 0)))


def _read_number(text: str) -> int:
    word = _WORDS.get(text.lower())
    if word is not None:
        return word
    if not text.lstrip("+-").isdecimal():
        raise InvalidReply(Failure.UNPARSABLE, f"items cannot be divided: {text[:20]} is not a whole number")
    if len(text) > _MAX_DIGITS:
        raise InvalidReply(Failure.ILLEGAL, "there are not that many items")
    return int(text)


def _last_json(text: str) -> tuple[int, int, dict[str, Any]] | None:
    """Returns start, end and content of the last JSON object that names an item or says ``"deal": true``."""
    found = [
        (end, value)
        for end, value in json_objects(text)
        if value.get("deal") is True or any(key.lower() in _NAMES for key in value)
    ]
    if not found:
        return None
    end, value = found[-1]
    start = text.rfind("{", 0, end)
    while not _is_json(text, start, end):
        start = text.rfind("{", 0, start)
    return start, end, value


def _is_json(text: str, start: int, end: int) -> bool:
    try:
        return json.JSONDecoder().raw_decode(text, start)[1] == end
    except (ValueError, RecursionError):
        return False


def _read_json(value: dict[str, Any]) -> Action:
    """Reads ``{"deal": true}`` or ``{"hats": 1, "balls": 0, "apples": 2}``; items that are left out count as 0."""
    counts = {_NAMES[key.lower()]: _read_number(str(number)) for key, number in value.items() if key.lower() in _NAMES}
    if value.get("deal") is not True:
        return _offer(counts)
    if counts:
        raise InvalidReply(Failure.UNPARSABLE, "either accept or make an offer, not both")
    return Deal()
