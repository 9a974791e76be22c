"""Reading regular expressions: a subset of Python's, with the same meaning.

What cannot be matched in linear time (backreferences, looking around) is refused; so is the repetition of what can be empty, on
which dialects disagree.
"""

import re
from typing import NamedTuple

from llmarena_envs.simulation.engines.lines import Refused

MAX_PATTERN = 200
"""Characters of a pattern."""
MAX_SIZE = 300
"""Size of a pattern: characters, sets, anchors and groups, when all counts are written out."""
MAX_COUNT = 100
"""The largest count in braces."""
MAX_DEPTH = 20
"""Groups in one another."""

_LAST = 0x10FFFF
_CLASSES = {"d": "09", "w": "09AZ__az", "s": "\t\r  "}
"""First and last character of each range, in order."""
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_ANCHORS = {"b": "word edge", "B": "no word edge", "A": "start", "Z": "end"}
_COUNT = re.compile(r"\{([0-9]++)(?:(,)([0-9]*+))?\}")
_GROUP_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")


class Flags(NamedTuple):
    """How a pattern is read: in either case, with ``^`` and ``$`` at every line, with ``.`` for line feeds too."""

    ignore_case: bool = False
    multiline: bool = False
    dot_all: bool = False


Ranges = tuple[tuple[int, int], ...]


class Set(NamedTuple):
    """One character: of those in ranges of code points, ends included, or none of those."""

    ranges: Ranges
    negated: bool = False


class Anchor(NamedTuple):
    """A place between characters: start, end, line start, line end, last line end, word edge, no word edge."""

    kind: str


class Sequence(NamedTuple):
    """One part after the other."""

    parts: "tuple[Node, ...]"


class Choice(NamedTuple):
    """One of several options, the first that leads to a match."""

    options: "tuple[Node, ...]"


class Group(NamedTuple):
    """A part whose place is noted; groups are numbered from 1 by their opening parentheses."""

    number: int
    inner: "Node"


class Repeat(NamedTuple):
    """A part several times: as often as possible if it is greedy, else as seldom as possible."""

    inner: "Node"
    least: int
    most: int | None
    greedy: bool


Node = Set | Anchor | Sequence | Choice | Group | Repeat


class Pattern(NamedTuple):
    """A pattern that was read.

    Attributes:
        root: the tree.
        ignore_case: whether letters A to Z stand for both cases.
        groups: number of groups.
        names: numbers of the groups that have names.
    """

    root: Node
    ignore_case: bool
    groups: int
    names: dict[str, int]


def read_pattern(pattern: str, flags: Flags) -> Pattern:
    """Reads a pattern.

    Raises:
        Refused: with the first fault from the left.
    """
    if len(pattern) > MAX_PATTERN:
        raise Refused("pattern too large")
    reader = _Reader(pattern, flags)
    return Pattern(reader.read(), flags.ignore_case, reader.groups, reader.names)


def _can_be_empty(node: Node) -> bool:
    match node:
        case Set():
            return False
        case Anchor():
            return True
        case Sequence(parts):
            return all(map(_can_be_empty, parts))
        case Choice(options):
            return any(map(_can_be_empty, options))
        case Group(_, inner):
            return _can_be_empty(inner)
        case Repeat(inner, least, _, _):
            return least == 0 or _can_be_empty(inner)


def _size(node: Node) -> int:
    match node:
        case Set() | Anchor():
            return 1
        case Sequence(inner) | Choice(inner):
            return sum(map(_size, inner))
        case Group(_, inner):
            return 1 + _size(inner)
        case Repeat(inner, least, most, _):
            return _size(inner) * (max(least, 1) if most is None else most)


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, pattern: str, flags: Flags) -> None:
        self.pattern, self.flags = pattern, flags
        self.place = self.depth = self.groups = 0
        self.names: dict[str, int] = {}

    def read(self) -> Node:
        node = self._choice()
        if self.place < len(self.pattern):
            raise Refused("unbalanced parenthesis")
        if _size(node) > MAX_SIZE:
            raise Refused("pattern too large")
        return node

    def _next(self) -> str:
        """Returns the next character, which stays; empty at the end."""
        return self.pattern[self.place : self.place + 1]

    def _take(self, text: str) -> bool:
        """Passes over a text if it comes next."""
        found = self.pattern.startswith(text, self.place)
        self.place += len(text) * found
        return found

    def _choice(self) -> Node:
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._next() not in ("", "|", ")"):
            parts.append(self._repeated(self._element()))
        return Sequence(tuple(parts))

    def _element(self) -> Node:
        character = self._next()
        self.place += 1
        match character:
            case "*" | "+" | "?":
                raise Refused("nothing to repeat")
            case "{":
                raise Refused("bad count")
            case "(":
                return self._group()
            case "[":
                return self._set()
            case ".":
                return Set((), negated=True) if self.flags.dot_all else Set(((10, 10),), negated=True)
            case "^":
                return Anchor("line start" if self.flags.multiline else "start")
            case "$":
                return Anchor("line end" if self.flags.multiline else "last line end")
            case "\\" if self._next() in _ANCHORS:
                self.place += 1
                return Anchor(_ANCHORS[self.pattern[self.place - 1]])
            case "\\":
                return Set(self._escape())
        return Set(((ord(character), ord(character)),))

    def _repeated(self, node: Node) -> Node:
        least, most = 0, None
        if self._take("*"):
            pass
        elif self._take("+"):
            least = 1
        elif self._take("?"):
            most = 1
        elif self._next() == "{":
            least, most = self._count()
        else:
            return node
        greedy = not self._take("?")
        if _can_be_empty(node):
            raise Refused("repeats what may be empty")
        if self._next() and self._next() in "*+?{":
            raise Refused("nothing to repeat")
        return Repeat(node, least, most, greedy)

    def _count(self) -> tuple[int, int | None]:
        match = _COUNT.match(self.pattern, self.place)
        if match is None:
            raise Refused("bad count")
        self.place = match.end()
        least = int(match[1])
        most = int(match[3]) if match[3] else None if match[2] else least
        if least > MAX_COUNT or (most is not None and not least <= most <= MAX_COUNT):
            raise Refused("bad count")
        return least, most

    def _group(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Refused("nested too deep")
        number = 0
        if self._take("?P<"):
            self.groups = number = self.groups + 1
            self._name(number)
        elif self._next() == "?":
            if not self._take("?:"):
                raise Refused("not supported")
        else:
            self.groups = number = self.groups + 1
        inner = self._choice()
        if not self._take(")"):
            raise Refused("unbalanced parenthesis")
        self.depth -= 1
        return Group(number, inner) if number else inner

    def _name(self, number: int) -> None:
        match = _GROUP_NAME.match(self.pattern, self.place)
        if match is None or match[0] in self.names or self.pattern[match.end() : match.end() + 1] != ">":
            raise Refused("bad group name")
        self.names[match[0]] = number
        self.place = match.end() + 1

    def _set(self) -> Node:
        negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        first = True
        while first or self._next() != "]":
            first = False
            low = self._member()
            if self._next() == "-" and self.pattern[self.place + 1 : self.place + 2] not in ("", "]"):
                self.place += 1
                high = self._member()
                if not (_is_single(low) and _is_single(high) and low[0][0] <= high[0][0]):
                    raise Refused("bad range")
                low = ((low[0][0], high[0][0]),)
            ranges += low
        self.place += 1
        return Set(tuple(ranges), negated)

    def _member(self) -> Ranges:
        character = self._next()
        if not character:
            raise Refused("unterminated set")
        self.place += 1
        return self._escape() if character == "\\" else ((ord(character), ord(character)),)

    def _escape(self) -> Ranges:
        """Reads what stands behind a backslash."""
        letter = self._next()
        self.place += 1
        if letter and letter in "dDwWsS":
            ends = [ord(end) for end in _CLASSES[letter.lower()]]
            ranges = tuple(zip(ends[::2], ends[1::2], strict=True))
            return ranges if letter.islower() else _complement(ranges)
        letter = _CONTROLS.get(letter, letter)
        if letter.isdigit():
            raise Refused("not supported")
        if not letter or letter.isalnum():
            raise Refused("bad escape")
        return ((ord(letter), ord(letter)),)


def _is_single(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def _complement(ranges: Ranges) -> Ranges:
    """Returns the code points between ranges that are in order."""
    edges = [-1, *(edge for pair in ranges for edge in pair), _LAST + 1]
    return tuple((low + 1, high - 1) for low, high in zip(edges[::2], edges[1::2], strict=True))
