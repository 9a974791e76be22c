"""Parsing of values from a sandbox; strict, because a program can forge them."""

import ast
import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from llmarena_envs.sandbox.protocol import Value

MAX_DETAIL = 400
"""Maximum number of characters of an explanation."""
MAX_ALIKE = 50
"""Maximum number of members of a set or dict with the same hash; building it takes quadratic time in their number."""

DATA: tuple[type, ...] = (
    *(type(None), bool, int, float, complex, str, bytes, bytearray, list, tuple, set, frozenset, dict, range),
    *(deque, Decimal, Fraction, date, timedelta),
)
"""Types of values that a program can return."""


def call(function: str, *arguments: Any) -> str:
    """Writes a call as an expression: ``call("add", 1, 2)`` is ``"add(1, 2)"``.

    Args:
        function: its name, with dots for an attribute.
        arguments: plain data; a value without a literal raises ``ValueError``.
    """
    if not all(part.isidentifier() for part in function.split(".")):
        raise ValueError(f"expected the name of a function, got {function!r}")
    return f"{function}({', '.join(map(literal, arguments))})"


def literal(value: Any) -> str:
    """Writes plain data as a literal; raises ``ValueError`` for a value without one."""
    text = repr(value)
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError):
        same = False
    if not same:
        raise ValueError(f"expected plain data as an argument, got {text[:100]}")
    return text


def read_value(answer: object) -> Value:
    """Parses the result of one call."""
    if isinstance(answer, dict) and len(answer) == 1:
        (kind, held), *_ = answer.items()
        if kind in ("raised", "unreadable") and isinstance(held, str):
            return Value(kind, detail=held[:MAX_DETAIL])
        if kind == "value":
            try:
                return Value("returned", _decode(held))
            except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
                return Value("unreadable", detail=str(error)[:MAX_DETAIL])
    return Value("unreadable", detail="no answer of the runner")


def _floats(held: list[Any]) -> complex:
    real, imaginary = held
    return complex(float(real), float(imaginary))


def _members(held: Iterable[Any]) -> list[Any]:
    """Decodes members of a set or dict."""
    members = [_decode(item) for item in held]
    if max(Counter(map(hash, members)).values(), default=0) > MAX_ALIKE:
        raise ValueError(f"more than {MAX_ALIKE} members of a set or dict share one hash")
    return members


def _made(kind: Callable[..., Any], argument: type) -> Callable[[Any], Any]:
    """Returns a function that reconstructs an object from arguments of one type; other types could exhaust the memory."""

    def make(held: Any) -> Any:
        arguments = [_decode(item) for item in held]
        if any(type(item) is not argument for item in arguments):
            raise ValueError("no tag of the runner")
        return kind(*arguments)

    return make


_TAGS: Mapping[str, Callable[[Any], Any]] = {
    "builtins.range": _made(range, int),
    "builtins.bytearray": _made(bytearray, bytes),
    "collections.deque": _made(deque, list),
    "decimal.Decimal": _made(Decimal, str),
    "fractions.Fraction": _made(Fraction, int),
    "datetime.date": _made(date, int),
    "datetime.timedelta": _made(timedelta, int),
    "bytes": bytes.fromhex,
    "complex": _floats,
    "tuple": lambda held: tuple(_decode(item) for item in held),
    "set": lambda held: set(_members(held)),
    "frozenset": lambda held: frozenset(_members(held)),
    "dict": lambda held: dict(zip(_members(key for key, _ in held), (_decode(item) for _, item in held), strict=True)),
}


def _decode(held: object) -> Any:
    """Decodes a tagged JSON value."""
    if isinstance(held, list):
        return [_decode(item) for item in held]
    if isinstance(held, dict):
        (tag, inner), *more = held.items()
        if more or tag not in _TAGS:
            raise ValueError("no tag of the runner")
        return _TAGS[tag](inner)
    return held


def read_report(line: bytes) -> dict[str, Any] | None:
    """Parses the runner's report; None if it is invalid."""
    try:
        report = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return report if isinstance(report, dict) else None
