"""Reading and writing of users' and simulators' messages.

A simulator's reply is its verbatim answer: wrappers around the content are part of the judged text. A user's reply is
``{"user": {"strategy": 2, "request": "..."}}``; a reply in another format is the request itself. An explanation can follow the
number of the strategy; without a number it means strategy 4.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.quoting import printable
from llmarena_envs.core.reading.markup import drop_reasoning, narrow
from llmarena_envs.core.reading.objects import find_objects
from llmarena_envs.core.replies import MAX_REPLY
from llmarena_envs.simulation.actions import OTHER, Request

MAX_TEXT = 15_000
"""Maximum number of characters of a request or an answer; the rest is cut."""

_KEPT = MAX_TEXT + 1_000  # more than is used, to detect a cut
_MAX_PASSES = 8
_DECODER = json.JSONDecoder(strict=False)  # shared: a decoder is a reference cycle
_FIRST_BLANKS = re.compile(r"(?:[^\S\n]*+\n)++")
_FENCE = re.compile(r"\s*+```[\w+#-]{0,20}+[ \t]*+\n(?P<inside>.*\n|)[ \t]*+```\s*+", re.DOTALL)
_STRATEGY = re.compile(r"\W{0,20}+(?:strategy|策略)?\W{0,20}+([1-4])(?![0-9])", re.IGNORECASE)
_EXPLANATION = re.compile(r"\W*+[^\W\d]")
_OPEN_REQUEST = re.compile(r'"request"\s{0,20}+:\s{0,20}+"((?:[^"\\]|\\.)*+)', re.DOTALL)
_BEGUN_REQUEST = re.compile(r'"request"\s{0,20}+:\s{0,20}+"')
_ENDED_REQUEST = re.compile(r'"\s{0,20}+\}(?:\s{0,20}+\}|[\s`]{0,20}+\Z)')
_BACKSLASH = re.compile(r"\\(.)", re.DOTALL)
_BACKSLASH_OR_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_ESCAPES = "\"\\/bfnrtu'"
# Possible reasoning tags when a request is read again.
_ESCAPED = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<[◁＜［"})


def as_said(reply: str) -> str:
    """Returns a reply without reasoning, control characters, and surrounding blank lines."""
    text = reply
    for _ in range(_MAX_PASSES):
        before, text = text, _kept(drop_reasoning(printable(text)))
        if text == before:
            break
    return text


def unfenced(text: str) -> str:
    """Returns the content of a fence around a whole text, or the text."""
    fence = _FENCE.fullmatch(text)
    return fence["inside"] if fence else text


def _kept(text: str) -> str:
    blanks = _FIRST_BLANKS.match(text)
    return text[blanks.end() if blanks else 0 :][:_KEPT].rstrip()


def read_request(reply: str) -> Request:
    """Reads a user's reply.

    Raises:
        ParseError: if there is no request.
    """
    for fields in _objects(reply):
        request = _request(fields)
        if request is not None:
            return request
    text = _with_bare_quotes(reply) or _cut_off(reply) or as_said(reply).strip()
    if not text:
        raise ParseError(Failure.UNPARSABLE, "nothing_stated")
    return Request(text, OTHER, True)


def write_request(request: Request) -> str:
    """Writes a request in the users' format."""
    fields: dict[str, Any] = {"strategy": request.strategy, "request": request.text}
    if request.unformatted:
        fields["unformatted"] = True
    return json.dumps({"user": fields}, ensure_ascii=False).translate(_ESCAPED)


def _objects(reply: str) -> Iterator[Mapping[str, Any]]:
    """Yields candidate objects of a reply, the likeliest first."""
    whole = _json(unfenced(reply))
    if whole is not None:
        yield whole
        return
    text = _BACKSLASH.sub(_kept_backslash, drop_reasoning(reply[-MAX_REPLY:]))
    for readable in (text, narrow(text)):  # plain characters could end a string at an inner quotation mark
        yield from [fields for _, _, fields in find_objects(readable)][::-1]


def _kept_backslash(match: re.Match[str]) -> str:
    """Writes a backslash that escapes nothing, as in a regular expression, as a literal one."""
    return match[0] if match[1] in _ESCAPES else f"\\{match[0]}"


def _json(text: str) -> Mapping[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None


def _request(fields: Mapping[str, Any]) -> Request | None:
    """Returns the request of an object, with or without the outer one, or ``None``."""
    outer = _plain_keys(fields)
    inner = outer.get("user", outer)
    if isinstance(inner, str):
        return Request(_kept(printable(inner)).strip(), OTHER, True)
    known = _plain_keys(inner) if isinstance(inner, Mapping) else {}
    if "request" not in known:
        return None
    value = known["request"]
    if value is None:
        value = ""
    text = _kept(printable(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))).strip()
    if not text and known.get("unformatted") is not True:
        raise ParseError(Failure.UNPARSABLE, "nothing_stated")
    named = known.get("strategy")
    number = _STRATEGY.match(str(named))
    is_named = number is not None or (isinstance(named, str) and _EXPLANATION.match(named) is not None)
    return Request(text, int(number[1]) if number else OTHER, not is_named or known.get("unformatted") is True)


def _plain_keys(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {str(name).strip().casefold(): value for name, value in fields.items()}


def _with_bare_quotes(reply: str) -> str:
    """Returns the request of an object with unescaped quotation marks, else an empty string."""
    text = drop_reasoning(reply[:MAX_REPLY])
    begun, ends = _BEGUN_REQUEST.search(text), list(_ENDED_REQUEST.finditer(text))
    if begun is None or not ends:
        return ""
    inside = _BACKSLASH.sub(_kept_backslash, text[begun.end() : ends[-1].start()])
    return _text_of(_BACKSLASH_OR_QUOTE.sub(lambda match: '\\"' if match[0] == '"' else match[0], inside))


def _cut_off(reply: str) -> str:
    """Returns the request of an object cut off by the length limit, else an empty string."""
    found = _OPEN_REQUEST.search(drop_reasoning(reply[:MAX_REPLY]))
    return _text_of(found[1].rstrip("\\")) if found else ""


def _text_of(inside: str) -> str:
    """Returns the text of a JSON string from its content between quotation marks; empty if invalid."""
    try:
        text = _DECODER.decode(f'"{inside}"')
    except ValueError:
        return ""
    return _kept(printable(str(text))).strip()
