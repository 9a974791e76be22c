"""Whether a program passes a task's asserts, with the expected values outside the process in which the program runs.

An assert such as ``assert abs(area(2) - 12.566) < 0.01`` is taken apart: the program is asked for ``area(2)`` alone, and what
comes back is put into the rest, ``abs(12.57 - 12.566) < 0.01``, which a second run judges that the program has no part in. So
neither an object that equals everything nor a program that leaves early can pass. Where the assert itself does not allow it (a
call inside a comprehension, two objects of the program's own compared with each other) the whole assert is evaluated beside the
program, and the check says so. A program's answers never decide that.
"""

import ast
import builtins
from collections.abc import Sequence
from dataclasses import dataclass, replace

from llmarena_envs.sandbox.protocol import Limits, Result, Sandbox, Value

_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)
_CONVERSIONS = frozenset(
    ("dict", "float", "frozenset", "int", "len", "list", "next", "repr", "set", "sorted", "str", "sum", "tuple")
)
"""Functions of one argument that are left with the program: what they are given may be a generator, say."""
_ANSWERS = "_answers_of_the_program"
_NAMES = {
    "nan": "nan = float('nan')\n",
    "inf": "inf = float('inf')\n",
    "deque": "from collections import deque\n",
    "Decimal": "from decimal import Decimal\n",
    "Fraction": "from fractions import Fraction\n",
    "datetime": "import datetime\n",
}
"""What the values of a program need to be written down."""


@dataclass(frozen=True)
class Check:
    """What came of one assert.

    Attributes:
        statement: the assert.
        passed: whether it holds.
        outside: whether it was judged apart from the program.
        detail: why it does not hold, in one line.
    """

    statement: str
    passed: bool
    outside: bool
    detail: str = ""


@dataclass(frozen=True)
class Checked:
    """What came of all asserts of a task.

    Attributes:
        checks: in the order of the asserts.
        result: of the program's run.
    """

    checks: tuple[Check, ...]
    result: Result

    @property
    def passed(self) -> bool:
        """Whether every assert holds."""
        return all(check.passed for check in self.checks)


@dataclass(frozen=True)
class _Parts:
    """An assert taken apart.

    Attributes:
        statement: the assert.
        calls: what the program is asked.
        rest: the rest, with a name for each answer.
        outside: whether the rest can be judged apart from the program.
        absolute: whether an answer is compared with something else than answers, so that it must be plain data.
    """

    statement: str
    calls: tuple[str, ...]
    rest: str
    outside: bool
    absolute: bool


def check_asserts(
    sandbox: Sandbox,
    program: str,
    asserts: Sequence[str],
    setup: str = "",
    limits: Limits = Limits(),  # noqa: B008 (frozen)
) -> Checked:
    """Runs a program and checks asserts about it.

    The asserts are checked in order, in one process, so a test that does not end leaves those after it unanswered, and they
    count as failed.

    Args:
        sandbox: to run in.
        program: the source.
        asserts: statements, one ``assert`` each.
        setup: what the asserts need beside the program: imports, helper functions.
        limits: of each run; there are two or three.

    Raises:
        ValueError: one of ``asserts`` is no single assert statement, or ``setup`` is no Python.
    """
    given = _bound(setup)
    parts = [_take_apart(statement, given) for statement in asserts]
    whole = f"{program}\n{setup}" if setup else program
    result = sandbox.run(whole, [call for part in parts for call in part.calls], limits)
    answers = iter(result.values)
    pairs = [(part, [next(answers) for _ in part.calls]) for part in parts]
    checks = [_settled(part, values) for part, values in pairs]

    apart = [i for i, check in enumerate(checks) if check is None and _readable(pairs[i][1])]
    if apart:
        # The values are data from here on: the limit of a program's size does not apply to writing them down.
        roomy = replace(limits, program=limits.program + 16 * limits.values)
        written = repr([[value.value for value in pairs[i][1]] for i in apart])
        names = "".join(line for name, line in _NAMES.items() if name in written)
        rests = [_filled(parts[i], place) for place, i in enumerate(apart)]
        judge = sandbox.run(f"{names}{_ANSWERS} = {written}\n{setup}", rests, roomy)
        # Only the setup may send an assert back to the program, by not running without it; never what the program answered.
        if judge.status != "error" or sandbox.run(setup, ["None"], limits).status == "ok":
            for i, value in zip(apart, judge.values, strict=True):
                checks[i] = _judged(parts[i], value)
    beside = [i for i, check in enumerate(checks) if check is None]
    if beside:
        again = sandbox.run(whole, [_condition(parts[i].statement) for i in beside], limits)
        for i, value in zip(beside, again.values, strict=True):
            checks[i] = _judged(replace(parts[i], outside=False), value)
    return Checked(tuple(check for check in checks if check is not None), result)


def _bound(setup: str) -> frozenset[str]:
    """Returns the names that the setup binds, which are therefore not the program's."""
    try:
        tree = ast.parse(setup)
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"expected Python as the setup of asserts, got {setup[:100]!r} ({error})") from None
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return frozenset(names)


def _parse(statement: str) -> ast.Assert:
    try:
        body = ast.parse(statement.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = []
    if len(body) != 1 or not isinstance(body[0], ast.Assert):
        raise ValueError(f"expected one assert statement, got {statement[:200]!r}")
    return body[0]


def _condition(statement: str) -> str:
    return f"bool({ast.unparse(_parse(statement).test)})"


def _root(node: ast.AST) -> str | None:
    """Returns the name with which a chain of attributes, calls and items begins, None for other expressions."""
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _take_apart(statement: str, given: frozenset[str]) -> _Parts:
    """Separates what the program is asked for from the rest of an assert."""
    test = _parse(statement).test
    known = given | set(dir(builtins))
    calls: list[str] = []

    def is_asked(node: ast.AST) -> bool:
        root = _root(node)
        if isinstance(node, ast.Call) and root in _CONVERSIONS - given and len(node.args) == 1 and not node.keywords:
            return isinstance(node.func, ast.Name) and is_asked(node.args[0])
        return root is not None and root not in known

    class Separate(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            if not is_asked(node):
                return self.generic_visit(node)
            calls.append(ast.unparse(node))
            return ast.Name(f"answer_{len(calls) - 1}", ast.Load())

    if not any(isinstance(node, _SCOPES) for node in ast.walk(test)):
        rest = Separate().visit(test)
        if calls:
            return _Parts(statement, tuple(calls), ast.unparse(rest), outside=True, absolute=_is_absolute(rest))
    return _Parts(statement, (_condition(statement),), "", outside=False, absolute=False)


def _is_absolute(rest: ast.AST) -> bool:
    """Returns whether an answer is compared with what holds none."""
    for node in ast.walk(rest):
        if isinstance(node, ast.Compare):
            answers = [
                any(isinstance(name, ast.Name) and name.id.startswith("answer_") for name in ast.walk(side))
                for side in (node.left, *node.comparators)
            ]
            if any(answers) and not all(answers):
                return True
    return False


def _settled(part: _Parts, values: Sequence[Value]) -> Check | None:
    """Returns the check of an assert that needs no judging any more, None for the others."""
    for value in values:
        if value.answer in ("raised", "missing") or (value.answer == "unreadable" and part.absolute):
            return Check(part.statement, False, part.outside, value.detail)
    return None if part.outside else _judged(part, values[0])


def _readable(values: Sequence[Value]) -> bool:
    return all(value.answer == "returned" for value in values)


def _filled(part: _Parts, place: int) -> str:
    """Returns the rest of an assert as an expression over the answers in a place of their list."""
    names = ", ".join(f"answer_{i}" for i in range(len(part.calls)))
    return f"bool((lambda {names}: {part.rest})(*{_ANSWERS}[{place}]))"


def _judged(part: _Parts, value: Value) -> Check:
    if value.answer == "returned" and value.value is True:
        return Check(part.statement, True, part.outside)
    return Check(part.statement, False, part.outside, value.detail or "it does not hold")
