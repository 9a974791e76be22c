"""Blocks of a reply: objects, calls, answer tags and boxes. Each is parsed separately and masked in the text."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from llmarena_envs.core.reading.calls import find_calls
from llmarena_envs.core.reading.elements import find_parameters
from llmarena_envs.core.reading.labels import EMBEDDED, FILLER
from llmarena_envs.core.reading.markup import narrow, unwrap
from llmarena_envs.core.reading.objects import find_objects
from llmarena_envs.core.reading.tags import find_tags

MAX_BLOCKS = 50
"""Maximum number of blocks parsed in a text, counted from the end; earlier ones are only masked."""

# An object that was cut off: its last value is possibly incomplete.
_BROKEN_OBJECT = re.compile(r"(?<![a-zA-Z])\{\s*+[\"'][^}]*+\Z")
_NEXT_ITEM = re.compile(r"\s*+,\s*+")


class Block(NamedTuple):
    """A part of a text that is parsed separately.

    Attributes:
        start: start offset.
        end: end offset.
        content: fields of an object or call, contents of an answer tag or box, or ``None`` if it states nothing.
    """

    start: int
    end: int
    content: Mapping[str, Any] | str | None


def cover(raw: str, nouns: str) -> tuple[str, list[Block]]:
    """Returns narrowed ``raw`` without markup and with its blocks masked, at its original length, and the blocks in order.

    Args:
        raw: the original text.
        nouns: names of a move, as alternatives of a pattern.
    """
    text = narrow(raw).replace(EMBEDDED, " ").replace(FILLER, " ")
    blocks = list(_objects(raw, text)) if "{" in text else []
    if "</" in text:
        blocks += [Block(*run) for run in find_parameters(text, raw)]
    if "(" in text:
        blocks += [Block(*call) for call in find_calls(text, raw, nouns)]
    without_partner: list[tuple[int, int]] = []
    if "<" in text or "[" in text:
        tags, without_partner = find_tags(text, nouns)
        for tag in tags:
            content = None if tag.foreign else raw[tag.inner_start : tag.inner_end]
            blocks.append(Block(tag.start, tag.end, content))
    blocks = _outermost(blocks)
    if blocks or without_partner:
        text = _covered(text, blocks, without_partner)
    text, boxes = unwrap(_BROKEN_OBJECT.sub(_blank, text) if "{" in text else text)
    boxes = boxes[-MAX_BLOCKS:]
    for start, end in boxes:
        holds_another = any(start < inner < end for inner, _ in boxes) or any(
            start <= block.start < end for block in blocks
        )
        if start < end and not holds_another:
            blocks.append(Block(start, end, raw[start:end]))
            text = _covered(text, blocks[-1:], [])
    return text, blocks[-MAX_BLOCKS:]


def _objects(raw: str, text: str) -> Iterator[Block]:
    """Yields the objects; objects of a list state nothing unless they are equal."""
    found = list(find_objects(raw)) or ([] if text.isascii() else list(find_objects(text)))
    first = 0
    for number, (_, end, value) in enumerate(found):
        following = found[number + 1][0] if number + 1 < len(found) else -1
        separator = _NEXT_ITEM.match(text, end)
        if separator and separator.end() == following:
            continue
        alike = all(item[2] == value for item in found[first:number])
        for start, stop, content in found[first : number + 1]:
            yield Block(start, stop, content if alike else None)
        first = number + 1


def _outermost(blocks: list[Block]) -> list[Block]:
    kept: list[Block] = []
    for block in sorted(blocks, key=lambda block: (block.start, -block.end)):
        if not kept or block.start >= kept[-1].end:
            kept.append(block)
    return kept


def _covered(text: str, blocks: list[Block], blanked: list[tuple[int, int]]) -> str:
    covers = [(block.start, block.end, EMBEDDED + FILLER * (block.end - block.start - 1)) for block in blocks]
    covers += [(start, end, " " * (end - start)) for start, end in blanked]
    pieces = []
    position = 0
    for start, end, cover_text in sorted(covers):
        if start >= position:
            pieces += [text[position:start], cover_text]
            position = end
    return "".join(pieces) + text[position:]


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
