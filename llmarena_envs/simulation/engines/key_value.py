"""A key-value server with 19 commands of Redis 7; replies as printed by ``redis-cli``.

It follows https://redis.io/docs/latest/commands/ for strings, lists, sets and hashes without expiry. Where Redis leaves the order
open, replies are sorted.
"""

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, NamedTuple, TypeVar

from llmarena_envs.simulation.engines.engine import Engine, cut_output, fault

MAX_LINES = 20
"""Maximum number of commands of a request."""
MAX_BYTES = 20_000
"""Of all keys and values together: what would add to more is refused."""
MAX_INTEGER = 2**63 - 1

Value = bytes | list[bytes] | set[bytes] | dict[bytes, bytes]
Store = dict[bytes, Value]
Kind = TypeVar("Kind", bytes, list[bytes], set[bytes], dict[bytes, bytes])

_ARGUMENT = re.compile(
    r"""\s*+([^\s"']*+)(?:"((?:\\.|[^"\\])*+)"|'((?:\\'|[^'])*+)')?(?=\s|\Z)""",
    re.ASCII | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "a": "\a"}
_SHOWN = {ord(character): f"\\{letter}" for letter, character in _CONTROLS.items()} | {34: '\\"', 92: "\\\\"}
_INTEGER = re.compile(rb"0|-?[1-9][0-9]{0,18}")


class _Refused(Exception):
    """A command that is not carried out and changes nothing; the text is the error."""


class Command(NamedTuple):
    """A command of the server.

    Attributes:
        run: changes the store and returns the reply.
        least: number of arguments, at least.
        most: number of arguments, at most; None without bound.
        step: the arguments beyond the first ``least`` come in groups of so many.
        grows: whether it may add to the store.
    """

    run: Callable[[Store, list[bytes]], str]
    least: int
    most: int | None
    step: int = 1
    grows: bool = False


class KeyValueServer(Engine):
    """Strings, lists, sets and hashes by key.

    Each line of a request is a command; blank lines do not count. An error ends its own line only.
    """

    name: ClassVar[str] = "key_value"

    def __init__(self) -> None:
        self._store: Store = {
            b"visits": b"41",
            b"queue": [b"ada", b"bo"],
            b"colours": {b"red", b"green"},
            b"user:1": {b"name": b"Ada", b"city": b"London"},
        }

    def respond(self, request: str) -> str:
        """Returns the replies to the commands, in order."""
        if unreadable := fault(request):
            return f"(error) ERR {unreadable}"
        commands = [line.strip() for line in request.split("\n") if line.strip()]
        if len(commands) > MAX_LINES:
            return f"(error) ERR request of more than {MAX_LINES} lines"
        return cut_output("\n".join(map(self._reply, commands)))

    def _reply(self, command: str) -> str:
        arguments = split_arguments(command)
        if not arguments:
            return "Invalid argument(s)"
        name, *rest = arguments
        known = COMMANDS.get(name.upper().decode("latin-1"))
        if known is None:
            return f"(error) ERR unknown command '{_escaped(name)}'"
        extra = len(rest) - known.least
        if extra < 0 or extra % known.step or (known.most is not None and len(rest) > known.most):
            return f"(error) ERR wrong number of arguments for '{name.decode().lower()}' command"
        if known.grows and _size(self._store) > MAX_BYTES:
            return "(error) OOM command not allowed when used memory > 'maxmemory'."
        try:
            return known.run(self._store, rest)
        except _Refused as error:
            return f"(error) {error}"

    def state(self) -> str:
        """Returns all keys with their values, one a line."""
        return "\n".join(f"{_text(key)} {_described(self._store[key])}" for key in sorted(self._store))


def split_arguments(line: str) -> list[bytes] | None:
    """Splits a command line at blanks outside quotes.

    Within double quotes a backslash escapes; within single quotes only the single quote can be escaped.

    Returns:
        The arguments, None if a quote is not closed or not followed by a blank.
    """
    text = line.encode().decode("latin-1")  # a character a byte
    arguments: list[bytes] = []
    place = 0
    while place < len(text):
        match = _ARGUMENT.match(text, place)
        if match is None:
            return None
        plain, double, single = match.groups()
        if double is not None:
            plain += _ESCAPE.sub(_unescaped, double)
        elif single is not None:
            plain += single.replace("\\'", "'")
        arguments.append(plain.encode("latin-1"))
        place = match.end()
    return arguments


def _unescaped(match: re.Match[str]) -> str:
    digits, letter = match.groups()
    return chr(int(digits, 16)) if digits else _CONTROLS.get(letter, letter)


def _escaped(data: bytes) -> str:
    return "".join(_SHOWN.get(code) or (chr(code) if 32 <= code < 127 else f"\\x{code:02x}") for code in data)


def _text(data: bytes | None) -> str:
    return "(nil)" if data is None else f'"{_escaped(data)}"'


def _number(value: int) -> str:
    return f"(integer) {value}"


def _array(items: Iterable[bytes | None]) -> str:
    texts = list(map(_text, items))
    width = len(str(len(texts)))
    return "\n".join(f"{place:{width}}) {text}" for place, text in enumerate(texts, 1)) or "(empty array)"


def _described(value: Value) -> str:
    match value:
        case bytes():
            return f"text {_text(value)}"
        case list():
            return f"list {' '.join(map(_text, value))}"
        case set():
            return f"set {' '.join(map(_text, sorted(value)))}"
        case dict():
            return f"hash {' '.join(f'{_text(field)}={_text(held)}' for field, held in value.items())}"


def _size(store: Store) -> int:
    """Returns the bytes of all keys, values, elements and fields, one more for each."""
    total = 0
    for key, value in store.items():
        match value:
            case bytes():
                parts: Iterable[bytes] = (value,)
            case dict():
                parts = (*value, *value.values())
            case _:
                parts = value
        total += len(key) + 1 + sum(len(part) + 1 for part in parts)
    return total


def _held(store: Store, key: bytes, kind: type[Kind]) -> Kind | None:
    """Returns the value of a key, or ``None`` if there is no such key."""
    value = store.get(key)
    if value is None or isinstance(value, kind):
        return value
    raise _Refused("WRONGTYPE Operation against a key holding the wrong kind of value")


def _integer(data: bytes) -> int:
    value = int(data) if _INTEGER.fullmatch(data) else MAX_INTEGER + 1
    if not -MAX_INTEGER - 1 <= value <= MAX_INTEGER:
        raise _Refused("ERR value is not an integer or out of range")
    return value


def _set(store: Store, arguments: list[bytes]) -> str:
    if len(arguments) > 2:
        raise _Refused("ERR syntax error")
    store[arguments[0]] = arguments[1]
    return "OK"


def _get(store: Store, arguments: list[bytes]) -> str:
    return _text(_held(store, arguments[0], bytes))


def _mset(store: Store, arguments: list[bytes]) -> str:
    store.update(zip(arguments[::2], arguments[1::2], strict=True))
    return "OK"


def _mget(store: Store, arguments: list[bytes]) -> str:
    values = [store.get(key) for key in arguments]
    return _array(value if isinstance(value, bytes) else None for value in values)


def _del(store: Store, arguments: list[bytes]) -> str:
    return _number(sum(store.pop(key, None) is not None for key in arguments))


def _exists(store: Store, arguments: list[bytes]) -> str:
    return _number(sum(key in store for key in arguments))


def _keys(store: Store, arguments: list[bytes]) -> str:
    pattern = arguments[0].decode("latin-1").replace("[", "[[]")
    matches = re.compile(fnmatch.translate(pattern)).match
    return _array(key for key in sorted(store) if matches(key.decode("latin-1")))


def _add(store: Store, key: bytes, change: int) -> str:
    held = _held(store, key, bytes)
    value = (0 if held is None else _integer(held)) + change
    if not -MAX_INTEGER - 1 <= value <= MAX_INTEGER:
        raise _Refused("ERR increment or decrement would overflow")
    store[key] = str(value).encode()
    return _number(value)


def _append(store: Store, arguments: list[bytes]) -> str:
    value = (_held(store, arguments[0], bytes) or b"") + arguments[1]
    store[arguments[0]] = value
    return _number(len(value))


def _lpush(store: Store, arguments: list[bytes]) -> str:
    key, *elements = arguments
    items = elements[::-1] + (_held(store, key, list) or [])
    store[key] = items
    return _number(len(items))


def _rpush(store: Store, arguments: list[bytes]) -> str:
    key, *elements = arguments
    items = (_held(store, key, list) or []) + elements
    store[key] = items
    return _number(len(items))


def _lpop(store: Store, arguments: list[bytes]) -> str:
    items = _held(store, arguments[0], list)
    if items is None:
        return _text(None)
    first = items.pop(0)
    if not items:
        del store[arguments[0]]
    return _text(first)


def _lrange(store: Store, arguments: list[bytes]) -> str:
    start, stop = map(_integer, arguments[1:])
    items = _held(store, arguments[0], list) or []
    start, stop = (place + len(items) if place < 0 else place for place in (start, stop))
    return _array(items[max(start, 0) : max(stop + 1, 0)])


def _sadd(store: Store, arguments: list[bytes]) -> str:
    key, *members = arguments
    before = _held(store, key, set) or set()
    after = before.union(members)
    store[key] = after
    return _number(len(after) - len(before))


def _smembers(store: Store, arguments: list[bytes]) -> str:
    return _array(sorted(_held(store, arguments[0], set) or ()))


def _hset(store: Store, arguments: list[bytes]) -> str:
    key, *pairs = arguments
    before = _held(store, key, dict) or {}
    after = before | dict(zip(pairs[::2], pairs[1::2], strict=True))
    store[key] = after
    return _number(len(after) - len(before))


def _hget(store: Store, arguments: list[bytes]) -> str:
    return _text((_held(store, arguments[0], dict) or {}).get(arguments[1]))


def _hgetall(store: Store, arguments: list[bytes]) -> str:
    fields = _held(store, arguments[0], dict) or {}
    return _array(part for pair in fields.items() for part in pair)


COMMANDS: Mapping[str, Command] = {
    "SET": Command(_set, 2, None, grows=True),
    "GET": Command(_get, 1, 1),
    "MSET": Command(_mset, 2, None, step=2, grows=True),
    "MGET": Command(_mget, 1, None),
    "DEL": Command(_del, 1, None),
    "EXISTS": Command(_exists, 1, None),
    "KEYS": Command(_keys, 1, 1),
    "INCR": Command(lambda store, arguments: _add(store, arguments[0], 1), 1, 1, grows=True),
    "DECR": Command(lambda store, arguments: _add(store, arguments[0], -1), 1, 1, grows=True),
    "APPEND": Command(_append, 2, 2, grows=True),
    "LPUSH": Command(_lpush, 2, None, grows=True),
    "RPUSH": Command(_rpush, 2, None, grows=True),
    "LPOP": Command(_lpop, 1, 1),
    "LRANGE": Command(_lrange, 3, 3),
    "SADD": Command(_sadd, 2, None, grows=True),
    "SMEMBERS": Command(_smembers, 1, 1),
    "HSET": Command(_hset, 3, None, step=2, grows=True),
    "HGET": Command(_hget, 2, 2),
    "HGETALL": Command(_hgetall, 1, 1),
}
