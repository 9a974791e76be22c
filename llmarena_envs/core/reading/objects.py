"""Objects and function calls in a reply, in JSON or Python syntax, and their fields; nothing is evaluated."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.reading.grammar import EXPLAINS, UNREADABLE, Grammar, Other, Value, labels

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


MAX_CALLS = 50
"""Maximum number of calls parsed in a text, counted from the end."""

_CALL = re.compile(r"(?<![\w.])(?:[^\W\d]\w{0,30}+\.){0,4}+(?P<name>[^\W\d]\w{0,40}+)\((?!\))")
# Text allowed before and after a call that is the only statement of its line.
_BEFORE = re.compile(r"(?:[^\n]{0,100}[:=])?[^\w\n]*+(?:(?:print|return|await)\b[^\w\n]*+)?", re.IGNORECASE)
_AFTER = re.compile(r"[^\w\n]*+(?:$|\n|#)")

_STATES = re.compile(r"[\"'\d]")  # missing in a word with parentheses, e.g. play(ful)

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_a-zA-Z]+")
# Words in names of functions that make a move, and of functions that inspect, evaluate or belong to another player.
_MOVES = re.compile(
    r"make|do|take|submit|send|play|place|put|drop|insert|choose|select|pick|perform|execute|step|cast|give|"
    r"propose|answer|respond|reply|say|finish|commit|my|final|move|action|turn|decision|choice|response|piece|"
    r"disc|disk|token|mark|discard"
)
_LOOKS = re.compile(
    r"get|is|are|has|can|check|evaluate|eval|score|list|show|analyze|analyse|simulate|search|find|opponent|"
    r"opponents|partner|legal|valid|validate|value|values|test|think|note|undo|predict|calculate|compute|expect|"
    r"expected|threat|consider|compare|def|lookup|query|inspect|probability|state|board|not|avoid|would|if|"
    r"alternative|example|remember|reject|assert|max|min|count|estimate|win|wins|block|lose|loses|keep"
)


def is_no_move(name: str) -> bool:
    """Says whether the name of a function shows that it inspects, evaluates or belongs to another player."""
    return any(_LOOKS.fullmatch(word.lower()) for word in _WORD.findall(name))


def _is_move(name: str, nouns: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    return bool(words) and all(_MOVES.fullmatch(word) or (nouns and re.fullmatch(nouns, word)) for word in words)


def find_calls(text: str, raw: str, nouns: str) -> Iterator[tuple[int, int, Mapping[str, Any] | None]]:
    """Yields start, end and content of the calls in narrowed ``text``; ``raw`` is the original text.

    The content is ``None`` if the call shares its line with other text or its function makes no move. A word before a
    parenthesis is not a call.
    """
    as_written, narrowed = Reader(raw), Reader(text)
    done = 0
    for match in list(_CALL.finditer(text))[-MAX_CALLS:]:
        if match.start() < done:
            continue
        arguments = as_written.read_arguments(match.end()) or narrowed.read_arguments(match.end())
        if arguments is None:
            continue
        named, end = arguments
        name = match["name"]
        if not isinstance(named, dict) and not (_is_move(name, nouns) and _STATES.search(text, match.end(), end)):
            continue
        done = end
        line_start = text.rfind("\n", 0, match.start()) + 1
        alone = _BEFORE.fullmatch(text, line_start, match.start()) and _AFTER.match(text, end)
        content = None if is_no_move(name) or not alone else {"name": name, "arguments": named}
        yield match.start(), end, content


MAX_ANSWER_DEPTH = 4
"""Maximum nesting depth of answers."""

_CALLS = ("tool_calls", "tool_call", "function_call", "function")
_ARGUMENTS = ("arguments", "parameters", "params", "args", "input", "action_input", "kwargs")


class Fields(Generic[Value]):
    """Parses objects of one game.

    Args:
        grammar: grammar of a statement.
        me: the player whose statement counts.
        read_piece: parses a text that should hold only a statement.
    """

    def __init__(
        self, grammar: Grammar[Value], me: str, read_piece: Callable[[str], tuple[Any, Mapping[str, Any]]]
    ) -> None:
        self._grammar = grammar
        self._me = me
        self._read_piece = read_piece
        self._labels = labels(grammar.nouns, grammar.seats, grammar.free)

    def read(self, value: Mapping[str, Any], depth: int) -> Any:
        """Returns the value of an object, a ``ParseError``, ``Other``, ``UNREADABLE``, or ``None`` if it states nothing."""
        if depth > MAX_ANSWER_DEPTH:
            return None
        fields = {"_".join(str(key).lower().split()).replace("-", "_"): entry for key, entry in value.items()}
        for key in self._grammar.seats.keys:
            seat = fields.get(key)
            if isinstance(seat, str) and self._labels.seat.fullmatch(seat):
                name = self._grammar.seats.name(seat)
                if name != self._me:
                    return Other(name)
        try:
            read = self._grammar.fields(fields)
        except ParseError as error:
            return error
        answers: list[Any] = []
        other = None
        for key, entry in fields.items():
            if self._labels.seat.fullmatch(key):
                name = self._grammar.seats.name(key)
                if name == self._me:
                    answers.append(self._read_entry(entry, depth))
                else:
                    other = Other(name)
            elif self._is_answer(key, entry, fields):
                answers.append(self._read_entry(entry, depth))
        if read is not None:
            contradicted = any(_is_readable(answer) and answer != read for answer in answers)
            return ParseError(Failure.UNPARSABLE, "unclear") if contradicted else read
        called = self._read_call(fields, depth)
        if called is not None:
            return called
        answers = [answer for answer in answers if answer is not None]
        if not answers:
            return other
        readable = [answer for answer in answers if answer is not UNREADABLE]
        if not readable:
            return UNREADABLE
        same = all(answer == readable[0] for answer in readable) or isinstance(readable[0], ParseError)
        return readable[0] if same else ParseError(Failure.UNPARSABLE, "unclear")

    def _is_answer(self, key: str, entry: Any, fields: Mapping[str, Any]) -> bool:
        """Says whether a field holds the answer; for free text, a weak name counts only if no other field holds a text."""
        label = self._answer_key(key)
        if label is None:
            return False
        return bool(label["strong"]) or not (self._grammar.free and isinstance(entry, str)) or _texts(fields) == 1

    def _answer_key(self, key: str) -> re.Match[str] | None:
        match = labels(self._grammar.nouns, self._grammar.seats, False).at_start.match(f"{key.replace('_', ' ')}:")
        whole = match is not None and match.end() == len(key) + 1
        return match if match and whole and not match["seat"] and not match["next"] else None

    def _read_entry(self, entry: Any, depth: int) -> Any:
        if isinstance(entry, list) and len(entry) == 1:
            entry = entry[0]
        if isinstance(entry, dict):
            return self.read(entry, depth + 1)
        if entry is None or isinstance(entry, bool) or (self._grammar.free and not isinstance(entry, str)):
            return UNREADABLE
        return self._read_piece(str(entry))[0]

    def _read_call(self, fields: Mapping[str, Any], depth: int) -> Any:
        """Parses a tool call: its arguments (an object or its text), or else its name."""
        name = str(fields.get("name", ""))
        unread: Any = None
        for key in (*_CALLS, *_ARGUMENTS):
            entry = fields.get(key)
            if isinstance(entry, list) and entry:
                entry = entry[-1]
            if isinstance(entry, str):
                entry = read_object(entry) or entry
            if key in _ARGUMENTS and entry and is_no_move(name):
                return None
            if isinstance(entry, dict):
                found = self.read(entry, depth + 1)
                if found is None and len(entry) == 1 and key in _ARGUMENTS and self._answer_key(name):
                    found = self._read_entry(next(iter(entry.values())), depth)
                if found is not None:
                    return found
            elif isinstance(entry, str) and key in _ARGUMENTS:
                for text in (entry, f"{name} {entry}"):  # the function name can be the first word of the statement
                    found = self._read_piece(text)[0]
                    if _is_readable(found) or isinstance(found, Other):
                        return found
                    unread = found if isinstance(found, ParseError) else unread
        return unread


def _is_readable(value: Any) -> bool:
    return value is not None and value is not UNREADABLE and not isinstance(value, (ParseError, Other))


def _texts(fields: Mapping[str, Any]) -> int:
    """Returns the number of fields with a text, without explanations."""
    return sum(isinstance(entry, str) and not EXPLAINS.search(key) for key, entry in fields.items())
