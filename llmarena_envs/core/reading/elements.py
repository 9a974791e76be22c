"""Fields written as XML elements, as in some models' tool calls, or one per line."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from llmarena_envs.core.reading.labels import NOT_MEANT
from llmarena_envs.core.reading.objects import read_object, read_word

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
