"""A spreadsheet of ten columns and twenty rows."""

import re
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from typing import ClassVar

from llmarena_envs.simulation.engines.engine import Engine, cut_output, fault
from llmarena_envs.simulation.engines.formula import (
    COLUMNS,
    ROWS,
    Fault,
    Node,
    Value,
    cell_name,
    cells_between,
    evaluate,
    read_formula,
    references,
)

MAX_CONTENT = 200
"""Characters of what is typed into a cell."""
MAX_LINES = 10
"""Commands of a request."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)")
_FIRST = {
    "A1": "item", "B1": "price", "C1": "count", "D1": "total",
    "A2": "pens", "B2": "1.5", "C2": "10", "D2": "=B2*C2",
    "A3": "paper", "B3": "4", "C3": "3", "D3": "=B3*C3",
    "A4": "sum", "D4": "=SUM(D2:D3)",
}  # fmt: skip


class _Refused(Exception):
    """A command that is not carried out; the text says why."""


class Spreadsheet(Engine):
    """Cells A1 to J20 that hold numbers, texts and formulas.

    The commands are ``SET cell content``, ``CLEAR range``, ``SHOW range`` and ``FORMULA cell``, one a line.
    """

    name: ClassVar[str] = "spreadsheet"

    def __init__(self) -> None:
        self._typed: dict[str, str] = dict(_FIRST)

    def respond(self, request: str) -> str:
        """Returns what the commands print, each on lines of its own."""
        if unreadable := fault(request):
            return f"ERROR: {unreadable}"
        lines = [line for line in map(str.strip, request.split("\n")) if line]
        if len(lines) > MAX_LINES:
            return f"ERROR: more than {MAX_LINES} lines"
        return cut_output("\n".join(map(self._answer, lines)) or "ERROR: bad command")

    def _answer(self, line: str) -> str:
        command, target, content = (*line.split(maxsplit=2), "", "", "")[:3]
        try:
            match command.upper():
                case "SET" if content:
                    return self._set(_cell(target), content)
                case "CLEAR" if target and not content:
                    for row in _range(target):
                        for name in row:
                            self._typed.pop(name, None)
                    return "OK"
                case "SHOW" if target and not content:
                    return self._show(_range(target))
                case "FORMULA" if target and not content:
                    return self._typed.get(_cell(target), "_")
        except _Refused as refused:
            return f"ERROR: {refused}"
        return "ERROR: bad command"

    def _set(self, name: str, content: str) -> str:
        if len(content) > MAX_CONTENT:
            raise _Refused("content too long")
        if not content.isprintable():
            raise _Refused("unreadable character")
        if content.startswith("=") and read_formula(content[1:]) is None:
            raise _Refused("bad formula")
        self._typed[name] = content
        return f"{name} = {_shown(self._values().get(name))}"

    def _show(self, rows: list[list[str]]) -> str:
        values = self._values()
        lines = [["row", *(name[0] for name in rows[0])]]
        lines += [[row[0][1:], *(_shown(values.get(name)) for name in row)] for row in rows]
        return "\n".join(map(" | ".join, lines))

    def _values(self) -> dict[str, Value]:
        """Returns what every cell is worth that is not empty."""
        formulas: dict[str, Node] = {}
        values: dict[str, Value] = {}
        for name, typed in self._typed.items():
            formula = read_formula(typed[1:]) if typed.startswith("=") else None
            if formula:
                formulas[name] = formula
            else:
                values[name] = float(typed) if _NUMBER.fullmatch(typed) else typed
        sorter = TopologicalSorter({name: set(references(node)) for name, node in formulas.items()})
        with suppress(CycleError):  # the cells that do not depend on a cycle come all the same
            sorter.prepare()
        while ready := sorter.get_ready():
            for name in ready:
                if name in formulas:
                    value = evaluate(formulas.pop(name), values)
                    values[name] = 0.0 if value is None else value
            sorter.done(*ready)
        return values | dict.fromkeys(formulas, Fault.CYCLE)

    def state(self) -> str:
        """Returns what is typed into each cell, and what it is worth."""
        values = self._values()
        names = [f"{letter}{row}" for row in range(1, ROWS + 1) for letter in COLUMNS]
        return "\n".join(
            f"{name} {self._typed[name]} -> {_shown(values[name])}" for name in names if name in self._typed
        )


def _cell(text: str) -> str:
    name = cell_name(text)
    if name is None:
        raise _Refused("no such cell")
    return name


def _range(text: str) -> list[list[str]]:
    """Reads a cell, or two with a colon between them."""
    first, _, last = text.partition(":")
    return cells_between(_cell(first), _cell(last if ":" in text else first))


def _shown(value: Value) -> str:
    """Returns a value as it is printed: ten significant digits of a number."""
    match value:
        case None:
            return "_"
        case Fault():
            return value.value
        case float():
            return f"{value + 0.0:.10g}"  # without the sign of a zero
        case _:
            return value
