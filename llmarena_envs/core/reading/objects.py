"""Objects and call arguments in a reply, in JSON or Python syntax; nothing is evaluated."""

import json
import re
from collections.abc import Iterator
from typing import Any

MAX_STARTS = 200
"""Maximum number of opening braces tried, counted from the end of the text."""

MAX_DEPTH = 8
MAX_TOKENS = 20_000
"""Maximum number of names, values and signs parsed in one text; bounds the time for hostile text."""

_START = re.compile(r"(\\[a-zA-Z]{1,20}+[ ]?)?\{")
_TOKEN = re.compile(
    r"(?:\s++|//[^\n]*+|#[^\n]*+|/\*(?:[^*]|\*(?!/)){0,500}+\*/)*+(?:(?P<string>\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+')"
    r"|(?P<number>[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?)(?![\w.])"
    r"|(?P<word>[^\W\d]\w{0,40}+)|(?P<sign>[{}\[\](),:=]))",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DECODER = json.JSONDecoder(strict=False)  # one for all calls: a decoder is a reference cycle
_WORDS = {"true": True, "false": False, "none": None, "null": None}
_MAX_INTEGER = 15


class _NoObject(Exception):
    """The text at this position is not an object."""


def find_objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yields start, end and content of the outermost objects in ``text``, in order.

    Lenient: accepts single quotes, trailing commas, unquoted names, ``True`` and ``None``, and skips comments. A number that
    is not a short integer stays text; a field with two different values becomes ``None``.
    """
    starts = [match.end() - 1 for match in _START.finditer(text) if not match[1]][-MAX_STARTS:]
    reader = Reader(text)
    done = 0
    for start in starts:
        if start < done:
            continue
        try:
            value, end = reader.read_object(start + 1, 0)
        except _NoObject:
            continue
        done = end
        yield start, end, value


def read_object(text: str) -> dict[str, Any] | None:
    """Returns the object if ``text`` is exactly one, else ``None``."""
    found = next(find_objects(text), None)
    return found[2] if found and not text[: found[0]].strip() and not text[found[1] :].strip() else None


def read_word(text: str) -> Any:
    """Returns the value of an unquoted word: a constant such as ``true``, or the word."""
    return _WORDS.get(text.lower(), text)


class Reader:
    """Parses objects and arguments of one text.

    Args:
        text: the text; at most ``MAX_TOKENS`` tokens of it are parsed in total.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = MAX_TOKENS

    def _next(self, position: int) -> re.Match[str]:
        self._tokens -= 1
        match = _TOKEN.match(self._text, position) if self._tokens > 0 else None
        if match is None:
            raise _NoObject
        return match

    def read_object(self, position: int, depth: int) -> tuple[dict[str, Any], int]:
        """Parses an object after its opening brace; returns it and the position after its closing brace."""
        value: dict[str, Any] = {}
        token = self._next(position)
        while token["sign"] != "}":
            if not (token["string"] or token["word"]):
                raise _NoObject
            colon = self._next(token.end())
            if colon["sign"] != ":":
                raise _NoObject
            key = _unquoted(token["string"]) if token["string"] else token["word"]
            stated, position = self._read_value(colon.end(), depth + 1)
            value[key] = None if value.get(key, stated) != stated else stated
            token = self._next(position)
            if token["sign"] == ",":
                token = self._next(token.end())
            elif token["sign"] != "}":
                raise _NoObject
        return value, token.end()

    def read_arguments(self, position: int) -> tuple[dict[str, Any] | str, int] | None:
        """Parses the arguments of a call after its opening parenthesis.

        Returns:
            The fields if the arguments are named or a single object, else their text; and the position after the closing
            parenthesis.
        """
        named: dict[str, Any] = {}
        values: list[Any] = []
        start = position
        try:
            token = self._next(position)
            while token["sign"] != ")":
                equals = self._next(token.end()) if token["word"] else None
                if equals and equals["sign"] == "=":
                    value, position = self._read_argument(equals.end())
                    key = token["word"]
                    named[key] = None if named.get(key, value) != value else value
                else:
                    value, position = self._read_argument(token.start())
                    values.append(value)
                token = self._next(position)
                if token["sign"] == ",":
                    token = self._next(token.end())
                elif token["sign"] != ")":
                    return None
        except _NoObject:
            return None
        if named:
            return ({} if values else named), token.end()
        if len(values) == 1 and isinstance(values[0], dict | str):
            return values[0], token.end()
        return self._text[start : token.start()], token.end()

    def _read_argument(self, position: int) -> tuple[Any, int]:
        token = self._next(position)
        return (read_word(token["word"]), token.end()) if token["word"] else self._read_value(position, 0)

    def _read_list(self, position: int, depth: int, closing: str) -> tuple[list[Any], int]:
        values = []
        token = self._next(position)
        while token["sign"] != closing:
            value, position = self._read_value(token.start(), depth)
            values.append(value)
            token = self._next(position)
            if token["sign"] == ",":
                token = self._next(token.end())
            elif token["sign"] != closing:
                raise _NoObject
        return values, token.end()

    def _read_value(self, position: int, depth: int) -> tuple[Any, int]:
        token = self._next(position)
        sign = token["sign"]
        if depth > MAX_DEPTH:
            raise _NoObject
        if token["string"]:
            return _unquoted(token["string"]), token.end()
        if token["number"]:
            digits = token["number"]
            short = digits.lstrip("+-").isdecimal() and len(digits) <= _MAX_INTEGER
            return (int(digits) if short else digits), token.end()
        if token["word"]:
            if token["word"].lower() not in _WORDS:
                raise _NoObject
            return _WORDS[token["word"].lower()], token.end()
        if sign == "{":
            return self.read_object(token.end(), depth)
        if sign in ("[", "("):
            return self._read_list(token.end(), depth + 1, "]" if sign == "[" else ")")
        raise _NoObject


def _unquoted(string: str) -> str:
    inner = string[1:-1]
    if string[0] == '"' and "\\" in inner:
        try:
            return str(_DECODER.decode(string))
        except ValueError:
            pass
    return _ESCAPE.sub(_unescaped, inner) if "\\" in inner else inner


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPED.get(match[2], match[2])
