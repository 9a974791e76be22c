"""Evaluation of a task's asserts in a process separate from the program.

Only calls of the entry point, e.g. ``area(2)`` in ``assert math.isclose(area(2), 12.566)``, run in the program's process. Their
arguments are evaluated before, in a run without the program, or sent unchanged if they use only literals and builtins. The rest
of the assert is evaluated afterwards, in a run without the program, from plain-data answers, with the modules in ``MODULES``.

Calls in the element of a comprehension, ``all(area(x) == y for x, y in ROWS)``, run for every element. A lambda that is called
immediately and only returns calls and its parameters, ``(lambda x: (f(x), x))([1])``, runs like a call.

An answer that is not plain data fails its assert. An assert in an unsupported form has ``outside=False`` and does not pass; this
depends only on the assert and the setup, never on the program.
"""

import ast
import builtins
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llmarena_envs.sandbox.protocol import Limits, Result, Sandbox, Value

MAX_LOOP = 1000
"""Maximum number of elements of a comprehension."""
MODULES = frozenset(
    "ast base64 bisect calendar cmath collections copy dataclasses datetime decimal enum fractions functools hashlib heapq html "
    "itertools json math numbers operator random re statistics string struct textwrap typing unicodedata".split()
)
"""Modules whose functions can get answers: none of them executes an answer as code."""
_EXECUTING = frozenset(
    "breakpoint compile delattr eval exec exit getattr globals help input locals open quit setattr vars".split()
)
_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("__")) - _EXECUTING
_EXPORTED = {
    **dict.fromkeys(("Counter", "OrderedDict", "defaultdict", "deque"), "collections"),
    **dict.fromkeys(("date", "timedelta"), "datetime"),
    "Decimal": "decimal",
    "Fraction": "fractions",
    "isclose": "math",
}
"""Names available to asserts without an import."""
_WRITTEN = {
    "nan": "float('nan')",
    "inf": "float('inf')",
    "deque": "__import__('collections').deque",
    "Decimal": "__import__('decimal').Decimal",
    "Fraction": "__import__('fractions').Fraction",
    "datetime": "__import__('datetime')",
}
"""Names in the ``repr`` of plain data, except builtins."""
_ANSWERS, _CALL = "_answers_of_the_program", "_call_"
_COLLECT = ast.parse("lambda *args, **kwargs: (args, kwargs)", mode="eval").body


@dataclass(frozen=True)
class Check:
    """The result of one assert.

    Attributes:
        statement: the assert.
        passed: whether it holds.
        outside: whether it can be evaluated outside the program; if not, it does not pass.
        detail: reason of the failure, in one line.
    """

    statement: str
    passed: bool
    outside: bool
    detail: str = ""


@dataclass(frozen=True)
class Checked:
    """The results of all asserts of a task.

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


@dataclass
class _Question:
    """Calls to run in the program: one row, or one row for each element of a comprehension.

    Attributes:
        functions: the entry point, or a lambda that calls it, for each call of a row.
        arguments: an expression for the rows of arguments; empty if they are sent unchanged.
        rows: the calls.
        answers: to ``rows``.
    """

    functions: list[str]
    arguments: str
    rows: list[list[str]] = field(default_factory=list)
    answers: list[list[Value]] = field(default_factory=list)


@dataclass
class _Parts:
    """An assert separated into calls and condition.

    Attributes:
        statement: the assert.
        questions: for the program.
        rest: an expression for the condition, over the answers.
        fault: why it cannot be evaluated outside the program; empty if it can.
    """

    statement: str
    questions: list[_Question]
    rest: str
    fault: str = ""


class _Inseparable(Exception):
    """An assert cannot be evaluated outside the program."""


def check_asserts(
    sandbox: Sandbox,
    program: str,
    asserts: Sequence[str],
    entry_point: str,
    setup: str = "",
    limits: Limits = Limits(),  # noqa: B008 (frozen)
) -> Checked:
    """Runs a program and checks asserts about it.

    The asserts are checked in order, in one process. After a call that does not end, all later calls are unanswered and their
    asserts fail.

    Args:
        sandbox: the sandbox.
        program: the source.
        asserts: statements, one ``assert`` each.
        entry_point: the function under test.
        setup: imports and helper functions of the asserts.
        limits: limits of each run; there are at most three runs.

    Raises:
        ValueError: one of ``asserts`` is not a single assert statement, or ``setup`` is not valid Python.
    """
    task = _Setup(setup, entry_point)
    parts = [_take_apart(statement, task, place) for place, statement in enumerate(asserts)]
    _evaluate_arguments(sandbox, task, parts, limits)
    questions = [question for part in parts for question in part.questions]
    result = sandbox.run(program, [call for question in questions for row in question.rows for call in row], limits)
    answers = iter(result.values)
    for question in questions:
        question.answers = [[next(answers) for _ in row] for row in question.rows]
    return Checked(_judge(sandbox, task, parts, limits), result)


def inseparable(asserts: Sequence[str], entry_point: str, setup: str = "") -> list[str]:
    """Returns the asserts that ``check_asserts`` never passes, because they cannot be evaluated outside the program.

    A static check. Arguments that are not plain data are only found at run time.
    """
    task = _Setup(setup, entry_point)
    return [statement for statement in asserts if _take_apart(statement, task, 0).fault]


def _evaluate_arguments(sandbox: Sandbox, task: "_Setup", parts: Sequence[_Parts], limits: Limits) -> None:
    """Fills the rows of the questions, in a run without the program."""
    unknown = [(part, question) for part in parts for question in part.questions if question.arguments]
    if not unknown:
        return
    expressions = [question.arguments for _, question in unknown]
    values = sandbox.run(task.source(expressions), expressions, limits).values
    for (part, question), value in zip(unknown, values, strict=True):
        if value.answer != "returned":
            part.fault = f"its arguments are no plain data: {value.detail}"
        elif len(value.value) > MAX_LOOP:
            part.fault = f"it has more than {MAX_LOOP} elements"
        else:
            question.rows = [
                [
                    _with_names(f"({function})(*{args!r}, **{kwargs!r})")
                    for function, (args, kwargs) in zip(question.functions, row, strict=True)
                ]
                for row in value.value
            ]
    for part in parts:
        if part.fault:
            part.questions = []


def _judge(sandbox: Sandbox, task: "_Setup", parts: Sequence[_Parts], limits: Limits) -> tuple[Check, ...]:
    """Evaluates the conditions of the asserts in a run without the program."""
    checks: dict[int, Check] = {}
    data: list[Any] = [[]] * len(parts)
    for place, part in enumerate(parts):
        answers = [answer for question in part.questions for row in question.answers for answer in row]
        unread = [answer.detail for answer in answers if answer.answer != "returned"]
        if part.fault or unread:
            checks[place] = Check(part.statement, False, not part.fault, part.fault or unread[0])
        else:
            data[place] = [[[answer.value for answer in row] for row in each.answers] for each in part.questions]
    left = [place for place in range(len(parts)) if place not in checks]
    if left:
        rests = [f"bool({parts[place].rest})" for place in left]
        # The answers are data here: the limit of a program's size does not apply to them.
        roomy = replace(limits, program=limits.program + 16 * limits.values)
        judge = sandbox.run(f"{_ANSWERS} = {_with_names(repr(data))}\n{task.source(rests)}", rests, roomy)
        for place, value in zip(left, judge.values, strict=True):
            passed = value.answer == "returned" and value.value is True
            detail = "" if passed else value.detail or "it does not hold"
            checks[place] = Check(parts[place].statement, passed, True, detail)
    return tuple(checks[place] for place in range(len(parts)))


def _with_names(expression: str) -> str:
    """Returns an expression over the ``repr`` of data, independent of names in scope."""
    used = {name: value for name, value in _WRITTEN.items() if name in expression}
    return f"(lambda {', '.join(used)}: {expression})({', '.join(used.values())})" if used else expression


class _Setup:
    """The setup of a task's asserts, without statements that need the program or could execute an answer as code.

    Args:
        setup: the source.
        entry_point: the function of the program.
    """

    def __init__(self, setup: str, entry_point: str) -> None:
        try:
            statements = ast.parse(setup).body
        except (SyntaxError, ValueError) as error:
            raise ValueError(f"expected Python as the setup of asserts, got {setup[:100]!r} ({error})") from None
        self.entry_point = entry_point
        self.own = {name for node in statements for name in _defined(node)}
        touched = {entry_point}
        while True:
            defined = {name for node in statements for name in _defined(node)}
            self.names = ((_BUILTINS | MODULES | _EXPORTED.keys()) - self.own | defined) - touched
            left_out = [node for node in statements if self.unusable(node)]
            if not left_out:
                break
            # An omitted statement possibly changed these.
            touched |= {name for node in left_out for name in _loaded(node) | _bound(node) if name in self.own}
            statements = [node for node in statements if node not in left_out]
        self.statements = [ast.unparse(node) for node in statements]

    def unusable(self, node: ast.AST) -> set[str]:
        """Returns the names and modules in a node that cannot be used outside the program."""
        inner = list(ast.walk(node))
        modules = {alias.name for part in inner if isinstance(part, ast.Import) for alias in part.names}
        modules |= {part.module or "." for part in inner if isinstance(part, ast.ImportFrom)}
        return {module for module in modules if module.split(".")[0] not in MODULES} | (_free(node) - self.names)

    def source(self, expressions: Iterable[str]) -> str:
        """Returns the setup with the missing imports for it and for some expressions."""
        used = {name for text in (*self.statements, *expressions) for name in _loaded(ast.parse(text))} - self.own
        imports = [f"import {name}" for name in sorted(used & MODULES)]
        imports += [f"from {module} import {name}" for name, module in _EXPORTED.items() if name in used]
        return "\n".join([*imports, *self.statements])


def _loaded(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)}


def _bound(node: ast.AST) -> set[str]:
    """Returns the names bound in a node, in any scope."""
    names: set[str | None] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            names.add(inner.id)
        elif isinstance(inner, ast.arg):
            names.add(inner.arg)
        elif isinstance(inner, ast.alias):
            names.add((inner.asname or inner.name).split(".")[0])
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler):
            names.add(inner.name)
    return {name for name in names if name}


def _defined(statement: ast.AST) -> set[str]:
    """Returns the names defined by a statement of a module."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    return _bound(statement)


def _free(node: ast.AST) -> set[str]:
    return _loaded(node) - _bound(node)


def _take_apart(statement: str, task: _Setup, place: int) -> _Parts:
    """Separates the calls of the program from the rest of an assert."""
    try:
        body = ast.parse(statement.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = []
    if len(body) != 1 or not isinstance(body[0], ast.Assert):
        raise ValueError(f"expected one assert statement, got {statement[:200]!r}")
    test = body[0].test
    separate = _Separate(task, place, _bound(test))
    try:
        if task.entry_point in _bound(test):
            raise _Inseparable(f"{task.entry_point} is a variable of it")
        if unusable := task.unusable(test) - {task.entry_point}:
            raise _Inseparable(f"{min(unusable)} cannot be used outside the program")
        rest = separate.visit(test)
        if task.entry_point in _loaded(rest):
            raise _Inseparable(f"it uses {task.entry_point} without calling it")
        if not separate.questions:
            raise _Inseparable(f"it does not call {task.entry_point}")
    except _Inseparable as error:
        return _Parts(statement, [], "", f"it cannot be judged apart from the program: {error}")
    return _Parts(statement, separate.questions, ast.unparse(rest))


class _Separate(ast.NodeTransformer):
    """Replaces the calls of the program in an assert by its answers.

    Args:
        task: the setup.
        place: index of the assert.
        variables: variables of the assert.
    """

    def __init__(self, task: _Setup, place: int, variables: set[str]) -> None:
        self.task, self.place, self.variables = task, place, variables
        self.questions: list[_Question] = []
        self.element: list[ast.Call] | None = None
        """The calls in the element of a comprehension, while it is visited."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replaces a call of the program."""
        if not self.is_asked(node):
            return self.generic_visit(node)
        if self.element is None:
            return ast.parse(f"{self.ask([node], [])}[0][0]", mode="eval").body
        self.element.append(node)
        return ast.Name(f"{_CALL}{len(self.element) - 1}", ast.Load())

    def refuse_calls(self, node: ast.AST) -> ast.AST:
        """Refuses a part of an assert with calls of the program, because their number is unknown in advance."""
        if any(self.is_asked(inner) for inner in ast.walk(node)):
            raise _Inseparable(f"a lambda, an inner loop or a condition of a loop calls {self.task.entry_point}")
        return node

    visit_Lambda = refuse_calls

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> ast.AST:
        """Adds the calls in the elements as a question, with a row of answers for each element."""
        if self.element is not None:
            return self.refuse_calls(node)
        first, *others = node.generators
        first.iter = self.visit(first.iter)
        for inner in (*first.ifs, *others):
            self.refuse_calls(inner)
        self.element = calls = list[ast.Call]()
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                setattr(node, part, self.visit(getattr(node, part)))
        self.element = None
        if calls:
            names: list[ast.expr] = [ast.Name(f"{_CALL}{number}", ast.Store()) for number in range(len(calls))]
            answers = self.ask(calls, node.generators)
            row = ast.parse(f"[{answers}.pop(0)]", mode="eval").body
            node.generators.append(ast.comprehension(ast.List(names, ast.Store()), row, [], 0))
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def is_asked(self, node: ast.AST) -> bool:
        """Returns whether a node calls the entry point, or a lambda that returns only calls of it and its parameters."""
        if not isinstance(node, ast.Call):
            return False
        if not isinstance(node.func, ast.Lambda):
            return isinstance(node.func, ast.Name) and node.func.id == self.task.entry_point
        body = node.func.body
        returned = body.elts if isinstance(body, ast.Tuple) else [body]
        calls = [part for part in returned if isinstance(part, ast.Call) and self.is_asked(part)]
        arguments = {name for call in calls for part in (*call.args, *call.keywords) for name in _loaded(part)}
        is_simple = all(part in calls or isinstance(part, ast.Name) for part in returned)
        return is_simple and self.task.entry_point not in arguments and _free(node.func) == {self.task.entry_point}

    def ask(self, calls: list[ast.Call], loop: list[ast.comprehension]) -> str:
        """Adds a question; returns an expression for its rows of answers."""
        row = ast.List([ast.Call(_COLLECT, call.args, call.keywords) for call in calls], ast.Load())
        rows = ast.ListComp(row, loop) if loop else ast.List([row], ast.Load())
        free = _free(rows)
        if not free <= self.task.names - self.variables:
            raise _Inseparable("its arguments depend on the program or on a variable of the assert")
        if any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(rows)):
            raise _Inseparable("its arguments assign a variable")
        if not loop and free <= _BUILTINS - self.task.own:
            question = _Question([], "", [[ast.unparse(calls[0])]])
        else:
            question = _Question([ast.unparse(call.func) for call in calls], ast.unparse(rows))
        self.questions.append(question)
        return f"{_ANSWERS}[{self.place}][{len(self.questions) - 1}]"
