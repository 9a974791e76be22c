"""The formulas of the spreadsheet: how they are read and what they are worth."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from operator import add, eq, ge, gt, le, lt, mul, ne, sub

COLUMNS = "ABCDEFGHIJ"
ROWS = 20
MAX_DEPTH = 20
"""Parentheses in one another."""


class Fault(Enum):
    """What a cell shows that has no value."""

    CYCLE = "#CYCLE!"
    DIVISION = "#DIV/0!"
    REFERENCE = "#REF!"
    VALUE = "#VALUE!"


Value = float | str | Fault | None
"""What a cell is worth; ``None`` if it is empty."""
Values = Mapping[str, Value]

_CELL = re.compile(r"([A-Za-z]{1,3})([0-9]{1,4})")
_TOKEN = re.compile(
    r'\s*+(?:([0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)|"([^"]*+)"|([A-Za-z]++[0-9]*+)|(<=|>=|<>|[-+*/()=<>,:]))\s*+'
)
_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {"+": add, "-": sub, "*": mul}
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


class _FormulaError(Exception):
    """Raised while reading what is no formula."""


def cell_name(text: str) -> str | None:
    """Returns the name of a cell in capitals, ``None`` if the sheet has no such cell."""
    match = _CELL.fullmatch(text)
    if match is None or match[1].upper() not in tuple(COLUMNS) or not 1 <= int(match[2]) <= ROWS:
        return None
    return f"{match[1].upper()}{int(match[2])}"


def cells_between(first: str, last: str) -> list[list[str]]:
    """Returns the cells of the rectangle between two corners, row by row."""
    columns = sorted(COLUMNS.index(name[0]) for name in (first, last))
    rows = sorted(int(name[1:]) for name in (first, last))
    return [
        [f"{letter}{row}" for letter in COLUMNS[columns[0] : columns[1] + 1]] for row in range(rows[0], rows[1] + 1)
    ]


@dataclass(frozen=True)
class Constant:
    """A number, a text, or a reference to no cell of the sheet."""

    value: float | str | Fault


@dataclass(frozen=True)
class Cells:
    """A cell, or all in a range, row by row."""

    names: tuple[str, ...]
    is_range: bool


@dataclass(frozen=True)
class Chain:
    """Operands with operators between them, worked off from the left."""

    first: "Node"
    rest: tuple[tuple[str, "Node"], ...]


@dataclass(frozen=True)
class Function:
    """A function and its arguments."""

    name: str
    arguments: tuple["Node", ...]


Node = Constant | Cells | Chain | Function


def references(node: Node) -> Iterator[str]:
    """Yields the cells that stand in a formula, some maybe more than once."""
    match node:
        case Cells(names):
            yield from names
        case Chain(first, rest):
            yield from references(first)
            for _, operand in rest:
                yield from references(operand)
        case Function(_, arguments):
            for argument in arguments:
                yield from references(argument)


# Reading --------------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def read_formula(text: str) -> Node | None:
    """Returns what a text without its leading ``=`` says as a formula, ``None`` if it is none."""
    try:
        reader = _Reader(text)
        node = _single(reader.comparison(0))
        reader.expect("")
    except _FormulaError:
        return None
    return node


class _Reader:
    """A recursive descent over the tokens of a formula."""

    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0
        self.kind, self.token = 0, ""
        self.next()

    def next(self) -> str:
        """Goes on to the next token, "" at the end; returns the one before."""
        before = self.token
        if self._place == len(self._text):
            self.kind, self.token = 0, ""
            return before
        match = _TOKEN.match(self._text, self._place)
        if match is None:
            raise _FormulaError
        self.kind = match.lastindex or 0
        self.token = f'"{match[2]}"' if self.kind == 2 else match[self.kind]
        self._place = match.end()
        return before

    def expect(self, sign: str) -> None:
        """Takes one sign."""
        if self.next() != sign:
            raise _FormulaError

    def comparison(self, depth: int) -> Node:
        """Reads sums with at most one comparison between them."""
        first = self.chain(depth, "+-")
        if self.token not in _COMPARISONS:
            return first
        sign = self.next()
        return Chain(_single(first), ((sign, _single(self.chain(depth, "+-"))),))

    def chain(self, depth: int, signs: str) -> Node:
        """Reads products with ``+`` and ``-`` between them, or factors with ``*`` and ``/``."""
        first = self.operand(depth, signs)
        rest = []
        while self.token and self.token in signs:
            sign = self.next()
            rest.append((sign, _single(self.operand(depth, signs))))
        return Chain(_single(first), tuple(rest)) if rest else first

    def operand(self, depth: int, signs: str) -> Node:
        """Reads what stands between the signs."""
        return self.chain(depth, "*/") if signs == "+-" else self.factor(depth)

    def factor(self, depth: int) -> Node:
        """Reads a number, text, cell, range, function or parenthesis, maybe with signs before it."""
        if depth > MAX_DEPTH:
            raise _FormulaError
        signs = ""
        while self.token and self.token in "+-":
            signs += self.next()
        node = self.bare(depth)
        if not signs:
            return node
        return Chain(Constant(-1.0 if signs.count("-") % 2 else 1.0), (("*", _single(node)),))

    def bare(self, depth: int) -> Node:
        """Reads a factor without signs."""
        kind, token = self.kind, self.next()
        if kind == 1:
            return Constant(float(token))
        if kind == 2:
            return Constant(token[1:-1])
        if token == "(":
            node = _single(self.comparison(depth + 1))
            self.expect(")")
            return node
        if kind != 3:
            raise _FormulaError
        if self.token == "(":
            return self.function(token.upper(), depth)
        if not _CELL.fullmatch(token):
            raise _FormulaError
        first = cell_name(token)
        if self.token != ":":
            return Cells((first,), is_range=False) if first else Constant(Fault.REFERENCE)
        self.next()
        if self.kind != 3 or not _CELL.fullmatch(self.token):
            raise _FormulaError
        last = cell_name(self.next())
        if not (first and last):
            return Constant(Fault.REFERENCE)
        return Cells(tuple(name for row in cells_between(first, last) for name in row), is_range=True)

    def function(self, name: str, depth: int) -> Node:
        """Reads the arguments of a function."""
        arguments: list[Node] = []
        while not arguments or self.token == ",":
            self.next()
            arguments.append(self.comparison(depth + 1))
        self.expect(")")
        if name == "IF" and len(arguments) == 3:
            return Function(name, tuple(map(_single, arguments)))
        if name not in _OVER_NUMBERS:
            raise _FormulaError
        return Function(name, tuple(arguments))


def _single(node: Node) -> Node:
    """Returns a node that is no range."""
    if isinstance(node, Cells) and node.is_range:
        raise _FormulaError
    return node


# Evaluating -----------------------------------------------------------------------------------------------------------------


def evaluate(node: Node, values: Values) -> Value:
    """Returns what a formula is worth.

    Args:
        node: the formula.
        values: of all cells that it refers to; those that are missing are empty.
    """
    match node:
        case Constant(value):
            return value
        case Cells(names):
            return values.get(names[0])
        case Chain(first, rest):
            result = evaluate(first, values)
            for sign, operand in rest:
                result = _combine(result, sign, evaluate(operand, values))
            return result
        case Function("IF", (condition, yes, no)):
            chosen = _number(evaluate(condition, values))
            if isinstance(chosen, Fault):
                return chosen
            return evaluate(yes if chosen else no, values)
        case Function(name, arguments):
            numbers = []
            for argument in arguments:
                for value in _numbers(argument, values):
                    if isinstance(value, Fault):
                        return value
                    numbers.append(value)
            return _finite(_OVER_NUMBERS[name], numbers)


def _number(value: Value) -> float | Fault:
    """Returns a value as a number: an empty cell is 0, a text none."""
    if value is None:
        return 0.0
    return Fault.VALUE if isinstance(value, str) else value


def _numbers(argument: Node, values: Values) -> list[float | Fault]:
    """Returns the numbers of an argument; in cells, what is empty or a text is left out."""
    if not isinstance(argument, Cells):
        return [_number(evaluate(argument, values))]
    found = [values.get(name) for name in argument.names]
    return [value for value in found if isinstance(value, (float, Fault))]


def _combine(left: Value, sign: str, right: Value) -> Value:
    """Applies an operator; the fault of the left operand goes before that of the right one."""
    for value in (left, right):
        if isinstance(value, Fault):
            return value
    if sign in ("=", "<>") and (isinstance(left, str) or isinstance(right, str)):
        return float((left == right) == (sign == "="))
    first, second = _number(left), _number(right)
    for number in (first, second):
        if isinstance(number, Fault):
            return number
    assert not isinstance(first, Fault) and not isinstance(second, Fault)
    if sign in _COMPARISONS:
        return float(_COMPARISONS[sign](first, second))
    if sign == "/":
        return Fault.DIVISION if second == 0 else _finite(lambda pair: pair[0] / pair[1], [first, second])
    return _finite(lambda pair: _ARITHMETIC[sign](pair[0], pair[1]), [first, second])


def _finite(function: Callable[[list[float]], float | Fault], numbers: list[float]) -> float | Fault:
    """Returns the value of a function, a fault if it is too large for a number."""
    try:
        value = function(numbers)
    except OverflowError:
        return Fault.VALUE
    return value if isinstance(value, Fault) or math.isfinite(value) else Fault.VALUE


_OVER_NUMBERS: Mapping[str, Callable[[list[float]], float | Fault]] = {
    "SUM": math.fsum,
    "AVG": lambda numbers: math.fsum(numbers) / len(numbers) if numbers else Fault.DIVISION,
    "MIN": lambda numbers: min(numbers, default=0.0),
    "MAX": lambda numbers: max(numbers, default=0.0),
    "COUNT": lambda numbers: float(len(numbers)),
}
"""``math.fsum`` rounds once, so that a sum does not depend on the order."""
