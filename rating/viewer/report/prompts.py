"""Compact encoding of prompts for the page, with references to repeated texts.

A prompt is ``[same, message, ...]``: the first ``same`` messages of the seat's previous prompt, then new messages. A message is
``[role, part, ...]``; its text is the concatenation of its parts. A part is a string or a reference: ``["rules"]`` of the seat,
``["read", turn]``, ``["reply", turn, attempt]``, or ``["last", n]``, the first n characters (code points) of the last message in
the seat's previous prompt. Turns and attempts count from 0.
"""

from collections.abc import Mapping
from typing import Any

from agents.chat import Message
from rating.store.records import Record
from rating.store.replay import Prompts

_WORTHWHILE = 60
"""Minimum characters of a repeated beginning to encode it as a reference."""


def pack_prompts(record: Record, prompts: Prompts, rules: Mapping[str, str]) -> dict[tuple[int, int], list[Any]]:
    """Encodes the prompts of a match, by turn and attempt.

    Args:
        record: recorded match.
        prompts: prompts of the match.
        rules: rules text by agent, as in the page.
    """
    known: dict[str, list[Any]] = {}
    before: dict[str, list[Message]] = {}
    packed = {}
    for turn in record.turns:
        known.setdefault(turn.read, ["read", turn.index])
        for number, attempt in enumerate(turn.attempts):
            messages = prompts.sent.get((turn.index, number))
            if messages is not None:
                earlier = before.get(turn.agent, [])
                same = _same(earlier, messages)
                told: dict[str, list[Any]] = {rules.get(turn.agent, ""): ["rules"], turn.read: ["read", turn.index]}
                last = earlier[-1]["content"] if earlier else ""
                rest = [[one["role"], *_parts(one["content"], known, told, last)] for one in messages[same:]]
                packed[turn.index, number] = [same, *rest]
                before[turn.agent] = messages
            known.setdefault(attempt.reply, ["reply", turn.index, number])
    return packed


def _same(earlier: list[Message], messages: list[Message]) -> int:
    """Returns the length of the common prefix, in messages."""
    pairs = zip(earlier, messages, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(earlier), len(messages)))


def _parts(content: str, known: Mapping[str, list[Any]], told: Mapping[str, list[Any]], last: str) -> list[Any]:
    if content in known:
        return [known[content]]
    parts: list[Any] = []
    for text, part in told.items():
        if len(text) >= _WORTHWHILE and content.startswith(text):
            parts.append(part)
            content = content.removeprefix(text)
            if content.startswith("\n\n"):
                parts.append("\n\n")
                content = content[2:]
    common = 0 if parts else _common(content, last)
    if common >= _WORTHWHILE:
        return [["last", common], content[common:]]
    return [*parts, content] if content else parts


def _common(one: str, other: str) -> int:
    """Returns the length of the common prefix, in characters."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
