"""Grammar of actions in a reply."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.reading.grammar import PLAYER, SPEAKERS, player_name
from llmarena_envs.core.replies import Grammar, quoted
from llmarena_envs.hanabi.actions import Kind
from llmarena_envs.hanabi.cards import COLORS

_FLAGS = re.IGNORECASE | re.ASCII
_0, _1 = r"[ \t_]*+", r"[ \t_]++"
_COLOR = rf"{'|'.join(COLORS)}|[{''.join(color[0] for color in COLORS)}]"
_CARD = rf"(?:(?:the|my){_1})?(?:card{_0})?(?:(?:at|in){_1})?(?:(?:position|slot|number|no\.){_0})?(?:#{_0})?(?P<position>-?\d++)"
_RANK = rf"(?:(?:rank|number|value){_0}:?{_0})?(?P<rank>-?\d++)s?"
_OTHERS = r"(?:another|the other|other|my|the|your)?[ \t]*+(?:partner|team-?mates?|players?|them|him|her)"
_TARGET = rf"{_1}(?:to|for){_1}(?:(?P<target>{PLAYER})|{_OTHERS})"
_ACTION = re.compile(
    rf"(?:(?P<verb>play|discard){_0}{_CARD}"
    rf"|(?:reveal|hint){_0}(?:the{_1})?(?:{_RANK}|(?:colou?r{_0}:?{_0})?(?P<color>{_COLOR})\b)(?:{_1}cards?\b)?(?:{_TARGET})?)(?!\w)",
    _FLAGS,
)
_FOREIGN_COLOR = re.compile(rf"(?:reveal|hint){_1}(orange|purple|violet|pink|black|gr[ae]y|brown|rainbow)\b", _FLAGS)
_SECOND = re.compile(rf"\s*(?:,|/|&|\band\b|\bor\b)\s*(?:rank|card|number|{_COLOR}|\d)", _FLAGS)
_MAX_DIGITS = 10


class Statement(NamedTuple):
    """A parsed action.

    Attributes:
        kind: the effect.
        value: position counted from 0, index of the colour, or rank; possibly out of range.
        target: the named receiver of a hint, e.g. ``player_1``.
    """

    kind: Kind
    value: int
    target: str | None = None


def read_action(text: str, labelled: bool) -> tuple[Statement, int] | None:
    """Reads an action at the beginning of ``text``; returns it with its end position.

    Raises:
        ParseError: for an unknown colour, or more than one value of a kind.
    """
    match = _ACTION.match(text)
    if match is None:
        foreign = _FOREIGN_COLOR.match(text)
        if foreign:
            raise ParseError(Failure.ILLEGAL, "foreign_color", color=foreign[1])
        return None
    if _SECOND.match(text, match.end()):
        raise ParseError(Failure.UNPARSABLE, "two_actions", text=quoted(text))
    return _statement(match), match.end()


def _statement(match: re.Match[str]) -> Statement:
    if match["verb"]:
        kind = Kind.PLAY if match["verb"].lower() == "play" else Kind.DISCARD
        return Statement(kind, int(match["position"][:_MAX_DIGITS]) - 1)
    target = player_name(match["target"]) if match["target"] else None
    if match["rank"]:
        return Statement(Kind.REVEAL_RANK, int(match["rank"][:_MAX_DIGITS]), target)
    initials = [color[0] for color in COLORS]
    return Statement(Kind.REVEAL_COLOR, initials.index(match["color"][0].upper()), target)


_VERBS = {
    "play": "play",
    "discard": "discard",
    "reveal": "reveal",
    "hint": "reveal",
    "give": "reveal",
    "clue": "reveal",
}


def _read_fields(fields: Mapping[str, Any]) -> Statement | None:
    """Reads an object with verb, card, colour or rank, and receiver in separate fields."""
    called = next((fields[key] for key in ("action", "type", "name", "kind", "move", "verb") if key in fields), None)
    verb = _VERBS.get(re.split(r"[\W_]", called.lower())[0]) if isinstance(called, str) else None
    inner: dict[str, Any] = next(
        (fields[key] for key in ("arguments", "parameters", "args", "input") if isinstance(fields.get(key), dict)), {}
    )
    fields = {**fields, **{str(key).lower(): value for key, value in inner.items()}}
    keys = (
        ("card", "position", "card_number", "slot")
        if verb != "reveal"
        else ("color", "colour", "rank", "value", "hint")
    )
    values = [fields[key] for key in keys if isinstance(fields.get(key), int | str)]
    if verb is None or len(values) != 1:
        return None
    target = next(
        (fields[key] for key in ("to", "target", "player", "receiver", "target_player") if fields.get(key)), None
    )
    read = read_action(f"{verb} {values[0]}" + (f" to {target}" if target and verb == "reveal" else ""), True)
    return read[0] if read else None


GRAMMAR = Grammar(read_action, nouns="action|行动|动作", seats=SPEAKERS, fields=_read_fields)
