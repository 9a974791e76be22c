"""A machine with one stack of integers."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, NamedTuple

from llmarena_envs.simulation.engines.engine import Engine, cut_output, fault

MAX_DEPTH = 50
"""Integers on the stack."""
MAX_DIGITS = 50
"""Digits of an integer."""
MAX_WORDS = 200
"""Words of a request."""

_INTEGER = re.compile(rf"[+-]?[0-9]{{1,{MAX_DIGITS}}}")


class Instruction(NamedTuple):
    """An instruction without an argument.

    Attributes:
        takes: how many integers it takes from the top of the stack.
        give: returns what it puts there instead, from the bottom up.
    """

    takes: int
    give: Callable[..., tuple[int, ...]]


def _quotient(a: int, b: int) -> int:
    """Divides towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INSTRUCTIONS: Mapping[str, Instruction] = {
    "POP": Instruction(1, lambda a: ()),
    "ADD": Instruction(2, lambda a, b: (a + b,)),
    "SUB": Instruction(2, lambda a, b: (a - b,)),
    "MUL": Instruction(2, lambda a, b: (a * b,)),
    "DIV": Instruction(2, lambda a, b: (_quotient(a, b),)),
    "DUP": Instruction(1, lambda a: (a, a)),
    "SWAP": Instruction(2, lambda a, b: (b, a)),
    "OVER": Instruction(2, lambda a, b: (a, b, a)),
    "ROT": Instruction(3, lambda a, b, c: (b, c, a)),
}
"""All but PUSH, which has an argument, and PRINT and STACK, which change nothing."""


class _Fault(Exception):
    """An instruction that cannot be carried out."""


class StackMachine(Engine):
    """Runs the words of a request one after the other, up to the first that fails; what was done before it remains."""

    name: ClassVar[str] = "stack_machine"

    def __init__(self) -> None:
        self._stack = [7, 3]

    def respond(self, request: str) -> str:
        """Returns what the program prints, ``OK`` if it prints nothing."""
        if unreadable := fault(request):
            return f"ERROR: {unreadable}"
        words = request.split()
        if not words:
            return "ERROR: empty program"
        if len(words) > MAX_WORDS:
            return f"ERROR: program of more than {MAX_WORDS} words"
        printed: list[str] = []
        rest = iter(words)
        try:
            for word in rest:
                self._step(word, rest, printed)
        except _Fault as error:
            printed.append(f"ERROR: {error}")
        return cut_output("\n".join(printed) or "OK")

    def _step(self, word: str, rest: Iterator[str], printed: list[str]) -> None:
        name, stack = word.upper(), self._stack
        if name == "STACK":
            printed.append(self.state())
        elif name == "PRINT":
            if not stack:
                raise _Fault("stack underflow in PRINT")
            printed.append(str(stack[-1]))
        elif name == "PUSH":
            argument = next(rest, "")
            if not _INTEGER.fullmatch(argument):
                raise _Fault("PUSH needs an integer")
            self._replace(name, 0, (int(argument),))
        elif name in INSTRUCTIONS:
            instruction = INSTRUCTIONS[name]
            if len(stack) < instruction.takes:
                raise _Fault(f"stack underflow in {name}")
            taken = stack[len(stack) - instruction.takes :]
            if name == "DIV" and taken[1] == 0:
                raise _Fault("division by zero")
            self._replace(name, instruction.takes, instruction.give(*taken))
        else:
            raise _Fault(f"unknown word {word}")

    def _replace(self, name: str, count: int, integers: tuple[int, ...]) -> None:
        """Puts integers in the place of the top ones."""
        if len(self._stack) - count + len(integers) > MAX_DEPTH:
            raise _Fault(f"stack overflow in {name}")
        if any(abs(integer) >= 10**MAX_DIGITS for integer in integers):
            raise _Fault(f"number too large in {name}")
        self._stack[len(self._stack) - count :] = integers

    def state(self) -> str:
        """Returns the stack from the bottom to the top, e.g. ``[7 3]``."""
        return f"[{' '.join(map(str, self._stack))}]"
