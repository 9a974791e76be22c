"""Parsing of objects that state a move: fields, nested answers and tool calls."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Generic

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.reading.calls import is_no_move
from llmarena_envs.core.reading.candidates import UNREADABLE, Other
from llmarena_envs.core.reading.grammar import Grammar, Value
from llmarena_envs.core.reading.labels import EXPLAINS, labels
from llmarena_envs.core.reading.objects import read_object

MAX_DEPTH = 4
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
        if depth > MAX_DEPTH:
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
