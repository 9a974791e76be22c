"""Blocks of a reply: answer tags, XML elements, objects, calls and boxes. Each is parsed separately and masked in the text."""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from llmarena_envs.core.reading.grammar import NOT_MEANT
from llmarena_envs.core.reading.markup import EMBEDDED, FILLER, narrow, unwrap
from llmarena_envs.core.reading.objects import find_calls, find_objects, is_no_move, read_object, read_word

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


_VALUE = r"[^<]{0,2000}+"
_PARAMETER = re.compile(
    rf"<(?:parameter|param|argument)(?:=|[ ]name=)[\"']?(?P<key>[\w-]{{1,40}}+)[\"']?(?:[ ][^<>\n]{{0,60}}+)?>(?P<value>{_VALUE})"
    rf"</(?:parameter|param|argument)>"
    rf"|<arg_key>(?P<arg_key>[^<]{{1,60}}+)</arg_key>\s*+<arg_value>(?P<arg_value>{_VALUE})</arg_value>",
    re.IGNORECASE,
)
_ELEMENT = re.compile(rf"\s*+<(?P<key>[a-z][\w-]{{0,40}}+)>(?P<value>{_VALUE})</(?P=key)>\s*+", re.IGNORECASE)
_PAIR = re.compile(r"[^\w\n]*+(?P<key>[^\W\d]\w{0,30}+(?:[ _-]\w{1,20}+){0,2}+)[\"' ]*+[:=](?P<value>[^\n]{0,200}+)$")
_MAX_ELEMENTS = 50
_MAX_LINES = 100


def find_parameters(text: str, raw: str) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yields start, end and fields of the runs of parameters in narrowed ``text``; ``raw`` is the original text."""
    fields: dict[str, Any] = {}
    start = end = 0
    for match in _PARAMETER.finditer(text):
        if fields and text[end : match.start()].strip():
            yield start, end, fields
            fields = {}
        if not fields:
            start = match.start()
        key, value = ("key", "value") if match["key"] else ("arg_key", "arg_value")
        _add(fields, match[key].strip(), raw[match.start(value) : match.end(value)])
        end = match.end()
    if fields:
        yield start, end, fields


def read_elements(text: str) -> Mapping[str, Any]:
    """Returns the fields of a text made only of elements such as ``<row>2</row>``; empty if it holds anything else."""
    fields: dict[str, Any] = {}
    position = 0
    while position < len(text) and len(fields) < _MAX_ELEMENTS:
        match = _ELEMENT.match(text, position)
        if match is None:
            return {}
        _add(fields, match["key"], match["value"])
        position = match.end()
    return fields


def read_pairs(text: str) -> list[Mapping[str, Any]]:
    """Returns the fields of each run of lines such as ``row: 2`` at the end of narrowed ``text``.

    A run below a header such as ``Example:`` states nothing.
    """
    runs: list[dict[str, Any]] = []
    above = ""
    meant = following = False
    for line in text[-_MAX_LINES * 100 :].split("\n")[-_MAX_LINES:]:
        pair = _PAIR.match(line)
        value = pair["value"].strip(" \t,;\"'.") if pair else ""
        if pair and value:
            if not following:
                runs.append({})
                meant = not NOT_MEANT.search(above)
            if meant:
                _add(runs[-1], pair["key"], value)
        elif line.strip():
            above = line
        elif following:
            above = ""
        following = bool(pair and value)
    return list(runs)


def _add(fields: dict[str, Any], key: str, text: str) -> None:
    """Adds a field; a duplicate key becomes ``None``."""
    text = text.strip()
    fields[key] = None if key in fields else read_object(text) or read_word(text)


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
