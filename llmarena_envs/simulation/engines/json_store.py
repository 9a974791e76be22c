"""A store of JSON documents by id."""

import json
import math
import re
from typing import Any, ClassVar

from llmarena_envs.simulation.engines.engine import Engine, fault

MAX_DOCUMENTS = 100
MAX_DOCUMENT = 2_000
"""Characters of a document in its canonical form."""
MAX_DEPTH = 20
"""Objects and lists in one another."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_FIRST = {
    "ada": {"name": "Ada", "age": 36, "tags": ["math", "code"], "address": {"city": "London"}},
    "bo": {"name": "Bo", "age": 29, "tags": [], "address": {"city": "Oslo"}},
    "cy": {"name": "Cy", "age": 36, "tags": ["code"]},
}
_MISSING = object()


class _Refused(Exception):
    """A request that is not carried out; the text says why."""


def canonical(value: Any) -> str:
    """Returns a JSON value as the store prints it: keys in order of code points, no spaces, no escapes without need."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class JSONStore(Engine):
    """Answers each request with one JSON value.

    The requests are ``PUT id document``, ``GET id``, ``DELETE id``, ``LIST``, ``COUNT`` and ``FIND path value``.
    """

    name: ClassVar[str] = "json_store"

    def __init__(self) -> None:
        self._documents: dict[str, dict[str, Any]] = {name: dict(document) for name, document in _FIRST.items()}

    def respond(self, request: str) -> str:
        """Returns the answer as canonical JSON; ``{"error":"..."}`` if the request was not carried out."""
        try:
            if unreadable := fault(request):
                raise _Refused(unreadable)
            return canonical(self._answer(request.strip()))
        except _Refused as error:
            return canonical({"error": str(error)})

    def _answer(self, request: str) -> Any:
        command, rest = (*request.split(maxsplit=1), "", "")[:2]
        match command.upper():
            case "PUT":
                return self._put(*_two(rest))
            case "GET":
                return self._documents[self._known(rest)]
            case "DELETE":
                del self._documents[self._known(rest)]
                return {"id": rest, "status": "deleted"}
            case "LIST" if not rest:
                return sorted(self._documents)
            case "COUNT" if not rest:
                return len(self._documents)
            case "FIND":
                return self._find(*_two(rest))
            case "LIST" | "COUNT":
                raise _Refused("wrong number of arguments")
        raise _Refused("unknown command")

    def _put(self, name: str, text: str) -> Any:
        _check_id(name)
        document = _parse(text)
        if not isinstance(document, dict):
            raise _Refused("not an object")
        if len(canonical(document)) > MAX_DOCUMENT:
            raise _Refused("document too long")
        known = name in self._documents
        if not known and len(self._documents) == MAX_DOCUMENTS:
            raise _Refused("store is full")
        self._documents[name] = document
        return {"id": name, "status": "replaced" if known else "created"}

    def _known(self, name: str) -> str:
        _check_id(name)
        if name not in self._documents:
            raise _Refused("not found")
        return name

    def _find(self, path: str, text: str) -> list[str]:
        wanted = canonical(_parse(text))
        found = {name: _at(document, path) for name, document in self._documents.items()}
        return sorted(name for name, value in found.items() if value is not _MISSING and canonical(value) == wanted)

    def state(self) -> str:
        """Returns all documents by id, one a line."""
        return "\n".join(f"{name} {canonical(self._documents[name])}" for name in sorted(self._documents))


def _two(text: str) -> tuple[str, str]:
    """Splits arguments at the first white space."""
    parts = text.split(maxsplit=1)
    if len(parts) != 2:
        raise _Refused("wrong number of arguments")
    return parts[0], parts[1]


def _check_id(name: str) -> None:
    if not _ID.fullmatch(name):
        raise _Refused("bad id")


def _at(document: Any, path: str) -> Any:
    """Returns what is found when the keys between the dots are followed, ``_MISSING`` if there is no such field."""
    for key in path.split("."):
        if not isinstance(document, dict) or key not in document:
            return _MISSING
        document = document[key]
    return document


def _parse(text: str) -> Any:
    """Reads strict JSON: no NaN, no numbers beyond a float, no key twice, no halves of characters."""

    def number(digits: str) -> float:
        value = float(digits)
        if not math.isfinite(value):
            raise ValueError
        return value

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError
        return dict(pairs)

    if _depth(text) > MAX_DEPTH:
        raise _Refused("nested too deep")
    try:
        value = json.loads(text, parse_float=number, parse_constant=number, object_pairs_hook=unique)
        canonical(value).encode()
    except ValueError:
        raise _Refused("bad JSON") from None
    return value


def _depth(text: str) -> int:
    """Returns how many objects and lists are opened in one another."""
    depth = deepest = 0
    for sign in _STRING_OR_BRACKET.findall(text):
        depth += (sign in "[{") - (sign in "]}")
        deepest = max(deepest, depth)
    return deepest
