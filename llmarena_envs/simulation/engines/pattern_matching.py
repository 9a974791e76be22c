"""Matching of regular expressions in time linear in the text.

A pattern becomes a program for a backtracking machine that tries no instruction twice at the same place of a text: what led
nowhere once leads nowhere again, as there are no backreferences. This holds for all searches of one text together.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from llmarena_envs.simulation.engines.pattern import Anchor, Choice, Group, Node, Pattern, Repeat, Sequence, Set

Span = tuple[int, int]


class _Read(NamedTuple):
    """Passes over one character."""

    holds: Callable[[str], bool]


class _Split(NamedTuple):
    """Goes on here, and elsewhere if that leads nowhere."""

    first: int
    second: int


class _Jump(NamedTuple):
    target: int


class _Save(NamedTuple):
    """Notes the place: the first group begins at slot 0 and ends at slot 1, the next at 2 and 3."""

    slot: int


_Instruction = _Read | _Split | _Jump | _Save | Anchor
_Slots = tuple[int, ...]


def find_matches(pattern: Pattern, text: str) -> Iterator[tuple[Span | None, ...]]:
    """Yields the matches from left to right, none of which overlap.

    Yields:
        Start and end of a match, then of each group; None for a group that took no part.
    """
    search = _Search(_program(pattern), 2 * pattern.groups, text)
    start, may_be_empty = 0, True
    while start <= len(text):
        found = search.match(start, may_be_empty)
        if found is None:
            start, may_be_empty = start + 1, True
            continue
        end, slots = found
        groups = [(low, high) if high >= 0 else None for low, high in zip(slots[::2], slots[1::2], strict=True)]
        yield (start, end), *groups
        start, may_be_empty = end, end > start


class _Search:
    """One text and what is known of it: at which places which instructions lead nowhere."""

    def __init__(self, program: list[_Instruction], slots: int, text: str) -> None:
        self.program, self.text = program, text
        self.no_slots: _Slots = (-1,) * slots
        self.row = len(program) + 1
        self.tried = bytearray(self.row * (len(text) + 1))

    def match(self, start: int, may_be_empty: bool) -> tuple[int, _Slots] | None:
        """Returns the end and the slots of the match that begins at a place."""
        stack = [(0, start, self.no_slots)]
        while stack:
            step, place, slots = stack.pop()
            while not self.tried[self.row * place + step]:
                self.tried[self.row * place + step] = True
                if step == len(self.program):
                    if place == start and not may_be_empty:
                        break
                    # What led to this match did not lead nowhere; later searches begin here or behind.
                    self.tried[self.row * place : self.row * (place + 1)] = bytes(self.row)
                    return place, slots
                instruction = self.program[step]
                step += 1
                match instruction:
                    case _Read(holds):
                        if place == len(self.text) or not holds(self.text[place]):
                            break
                        place += 1
                    case _Split(first, second):
                        stack.append((second, place, slots))
                        step = first
                    case _Jump(target):
                        step = target
                    case _Save(slot):
                        slots = (*slots[:slot], place, *slots[slot + 1 :])
                    case Anchor(kind):
                        if not _stands(kind, self.text, place):
                            break
        return None


def _stands(kind: str, text: str, place: int) -> bool:
    """Says whether a place of a text is of a kind."""
    rest = len(text) - place
    match kind:
        case "start":
            return place == 0
        case "end":
            return rest == 0
        case "line start":
            return place == 0 or text[place - 1] == "\n"
        case "line end":
            return rest == 0 or text[place] == "\n"
        case "last line end":
            return rest == 0 or (rest == 1 and text[place] == "\n")
    before, after = (_is_word(text[side : side + 1]) if side >= 0 else False for side in (place - 1, place))
    return (before != after) == (kind == "word edge")


def _is_word(character: str) -> bool:
    return character == "_" or (character.isascii() and character.isalnum())


def _program(pattern: Pattern) -> list[_Instruction]:
    program: list[_Instruction] = []
    tests: dict[Set, Callable[[str], bool]] = {}

    def write(node: Node) -> None:
        match node:
            case Set():
                if node not in tests:
                    tests[node] = _test(node, pattern.ignore_case)
                program.append(_Read(tests[node]))
            case Anchor():
                program.append(node)
            case Sequence(parts):
                for part in parts:
                    write(part)
            case Choice(options):
                write_choice(options)
            case Group(number, inner):
                program.append(_Save(2 * number - 2))
                write(inner)
                program.append(_Save(2 * number - 1))
            case Repeat():
                write_repeat(node)

    def write_choice(options: tuple[Node, ...]) -> None:
        exits = []
        for option in options[:-1]:
            fork = reserve()
            write(option)
            exits.append(reserve())
            program[fork] = _Split(fork + 1, len(program))
        write(options[-1])
        for place in exits:
            program[place] = _Jump(len(program))

    def write_repeat(node: Repeat) -> None:
        start = len(program)
        for _ in range(node.least):
            start = len(program)
            write(node.inner)
        if node.most is None and node.least:
            program.append(split(start, len(program) + 1, node.greedy))
        elif node.most is None:
            fork = reserve()
            write(node.inner)
            program.append(_Jump(fork))
            program[fork] = split(fork + 1, len(program), node.greedy)
        else:
            forks = []
            for _ in range(node.most - node.least):
                forks.append(reserve())
                write(node.inner)
            for fork in forks:
                program[fork] = split(fork + 1, len(program), node.greedy)

    def reserve() -> int:
        """Leaves room for an instruction whose target is not known yet."""
        program.append(_Jump(0))
        return len(program) - 1

    def split(inner: int, after: int, greedy: bool) -> _Split:
        return _Split(inner, after) if greedy else _Split(after, inner)

    write(pattern.root)
    return program


def _test(members: Set, ignore_case: bool) -> Callable[[str], bool]:
    """Returns whether a set holds a character; each is looked up once."""

    def inside(code: int) -> bool:
        return any(low <= code <= high for low, high in members.ranges)

    @cache
    def holds(character: str) -> bool:
        found = inside(ord(character))
        if ignore_case and character.isascii():
            found |= inside(ord(character.swapcase()))
        return found != members.negated

    return holds
