"""Reading a reply: which action it states last."""

import re
from typing import Any, NamedTuple

from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.replies import json_objects, last_match, normalise
from llmarena_envs.hanabi.actions import Kind
from llmarena_envs.hanabi.cards import COLORS

MAX_STATEMENT = 500
"""Characters of a statement that are looked at."""

_FLAGS = re.IGNORECASE | re.MULTILINE | re.ASCII
# Blanks are bounded, or a long run of them would keep the patterns busy for minutes.
_0, _1 = r"[ \t]{0,5}", r"[ \t]{1,5}"
_COLOR = rf"{'|'.join(COLORS)}|[{''.join(color[0] for color in COLORS)}]"
_CARD = rf"(?:(?:the|my){_1})?(?:card{_0})?(?:(?:at{_1}|in{_1})?position{_0})?(?:#{_0})?(?P<position>-?\d+)"
_RANK = rf"(?:rank{_0}|number{_0})?(?P<rank>-?\d+)"
_TARGET = rf"{_1}(?:to|for){_1}(?:(?P<target>player[ _]?\d+)|(?:(?:the|my){_1})?(?:partner|teammate|other player))"
_ACTION_PATTERN = (
    rf"(?:(?P<verb>play|discard){_0}{_CARD}"
    rf"|reveal{_0}(?:the{_1})?(?:{_RANK}|(?:colou?r{_0}:?{_0})?(?P<color>{_COLOR})\b(?:{_1}cards?\b)?)(?:{_TARGET})?)(?!\w)"
)
_ACTION = re.compile(_ACTION_PATTERN, _FLAGS)
_FOREIGN_COLOR = re.compile(rf"reveal{_1}(orange|purple|violet|pink|black|gr[ae]y|brown|rainbow)\b", _FLAGS)

# After a label at the beginning of a line or of a sentence, or alone on a line.
_LABELLED = re.compile(
    r"(?:^|[.!?;])[ \t>#*_-]*(?:(?:my|the|final|chosen|next)[ \t]+)*(?:action|动作|行动)[ \t*_]*[:=]"
    rf"(?=(?P<statement>[^\n]{{0,{MAX_STATEMENT}}}))",
    _FLAGS,
)
_BARE = re.compile(rf"^[ \t\"'\[(<*_]*(?P<statement>{_ACTION_PATTERN})[ \t\r\"'\])>*_.!]*$", _FLAGS)

_OPENING = " \t\r\"'[(<{*_"
# What may follow an action on its line: nothing, a remark set apart by a mark, or a tag. A digit could belong to the action.
_CLOSING = r"[\"'\])>}*_]*"
_END_OR_REMARK = re.compile(rf"{_CLOSING}(?:[\s.,;:!。]*$|\s*[.,;:!。、(\[–—-]+\s*(?=[^\W\d])|\s*<[|/])")


class Statement(NamedTuple):
    """An action as a player put it.

    Attributes:
        kind: what it does.
        value: position counted from 0, index of the colour, or rank; it may lie outside the game.
        target: the receiver of a hint if one was named, e.g. ``player_1``.
    """

    kind: Kind
    value: int
    target: str | None = None


def read_reply(reply: str, example: str) -> Statement:
    """Reads the last action stated in a reply.

    An action is stated after ``Action:``, in a JSON object under ``action``, or alone on a line.

    Args:
        reply: what the player wrote.
        example: an action line for the message.

    Raises:
        InvalidReply: if no action is stated, or the last one stated is not clear or names a colour that no card has.
    """
    text = normalise(reply).replace("\\_", "_")
    position, statement = -1, None
    for match in (last_match(_LABELLED, text), last_match(_BARE, text)):
        if match and match.end() > position:
            position, statement = match.end(), match["statement"]
    for end, value in json_objects(text):
        stated = _json_action(value)
        if stated is not None and end > position:
            position, statement = end, stated
    if statement is None:
        raise InvalidReply(Failure.UNPARSABLE, f"no action was found; end the reply with a line such as {example}")
    return _read_statement(statement[:MAX_STATEMENT], example)


def _json_action(value: dict[str, Any]) -> str | None:
    for key, stated in value.items():
        if key.lower() == "action":
            return str(stated)
    return None


def _read_statement(statement: str, example: str) -> Statement:
    statement = statement.lstrip(_OPENING)
    match = _ACTION.match(statement)
    if match is None:
        foreign = _FOREIGN_COLOR.match(statement)
        if foreign:
            raise InvalidReply(Failure.ILLEGAL, f"no card has the colour {foreign[1]}")
        raise InvalidReply(
            Failure.UNPARSABLE,
            f"{statement.strip()[:60]!r} is no action; write one as the rules name them, on a line such as {example}",
        )
    rest = statement[match.end() :]
    if not _END_OR_REMARK.match(rest) or _ACTION.search(rest):
        raise InvalidReply(
            Failure.UNPARSABLE,
            f"{statement.strip()[:60]!r} is not clear; write one action and nothing else on its line, as in {example}",
        )
    target = match["target"] and "player_" + match["target"][6:].lstrip(" _")
    if match["verb"]:
        kind = Kind.PLAY if match["verb"].lower() == "play" else Kind.DISCARD
        return Statement(kind, _number(match["position"]) - 1)
    if match["rank"]:
        return Statement(Kind.REVEAL_RANK, _number(match["rank"]), target)
    initials = [color[0] for color in COLORS]
    return Statement(Kind.REVEAL_COLOR, initials.index(match["color"][0].upper()), target)


def _number(digits: str) -> int:
    return int(digits[:10])
