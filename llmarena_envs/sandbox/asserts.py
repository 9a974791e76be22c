"""Whether a program passes a task's asserts, judged where the program has never run.

The program is only asked for calls: from ``assert math.isclose(area(2), 12.566)`` it gets ``area(2)``. Its answer is plain data,
and a run without the program puts it into the rest, ``math.isclose(12.57, 12.566)``. Expected values, comparisons and the setup
stay out of the program's process. An answer that is no plain data fails its assert.

An assert that cannot be taken apart like this has ``outside=False`` and does not pass. That depends on the assert and the setup
alone, never on the program.
"""

import ast
import builtins
import copy
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llmarena_envs.sandbox.protocol import Limits, Result, Sandbox, Value
from llmarena_envs.sandbox.values import DATA, literal

MAX_LOOP = 1000
"""Calls of a program that one comprehension may ask for."""
MODULES = frozenset(
    (
        *("ast", "base64", "bisect", "calendar", "cmath", "collections", "copy", "dataclasses", "datetime", "decimal"),
        *("enum", "fractions", "functools", "hashlib", "heapq", "html", "itertools", "json", "math", "numbers"),
        *("operator", "random", "re", "statistics", "string", "struct", "textwrap", "typing", "unicodedata"),
    )
)
"""Modules that may take answers: none of their functions runs an answer as code."""
_EXECUTING = frozenset(
    (
        *("breakpoint", "compile", "delattr", "eval", "exec", "exit", "getattr", "globals", "help", "input", "locals"),
        *("open", "quit", "setattr", "vars"),
    )
)
_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("__"))
_EXPORTED = {
    **dict.fromkeys(("Counter", "OrderedDict", "defaultdict", "deque"), "collections"),
    **dict.fromkeys(("date", "timedelta"), "datetime"),
    "Decimal": "decimal",
    "Fraction": "fractions",
    "isclose": "math",
}
"""Names that asserts may use without importing them."""
_METHODS = frozenset(name for kind in DATA for name in dir(kind))
"""Attributes of plain data, which are looked up outside."""
_CONVERSIONS = frozenset(
    (
        *("bool", "dict", "float", "frozenset", "int", "len", "list"),
        *("next", "repr", "set", "sorted", "str", "sum", "tuple"),
    )
)
"""Functions of one argument that the program applies to objects of its own classes."""
_CONSUMERS = frozenset(
    (
        *("all", "any", "dict", "enumerate", "frozenset", "list", "max"),
        *("min", "next", "set", "sorted", "sum", "tuple", "zip"),
    )
)
"""Functions that take iterators; the program sends the items of one as a list."""
_ARRANGING = (
    *(ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Starred, ast.Name, ast.Constant, ast.Load),
    *(ast.Compare, ast.Is, ast.IsNot),
)
"""Syntax that cannot hide a comparison with an expected value."""
_ANSWERS, _ANSWER, _CALL, _ARGUMENT = "_answers_of_the_program", "_answer_", "_call_", "_argument_"
_NAMES = {
    "nan": "nan = float('nan')\n",
    "inf": "inf = float('inf')\n",
    "deque": "from collections import deque\n",
    "Decimal": "from decimal import Decimal\n",
    "Fraction": "from fractions import Fraction\n",
    "datetime": "import datetime\n",
}
"""Definitions that the values of a program need when they are written down."""


@dataclass(frozen=True)
class Check:
    """The result of one assert.

    Attributes:
        statement: the assert.
        passed: whether it holds.
        outside: whether it can be judged apart from the program; if not, it does not pass.
        detail: why it does not hold, in one line.
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
class _Call:
    """A call that the program is asked for.

    Attributes:
        source: the call in the assert.
        template: the call with a name for each argument that is evaluated outside.
        arguments: those arguments, by name.
    """

    source: str
    template: ast.expr
    arguments: dict[str, ast.expr]

    def filled(self, values: Sequence[Any]) -> str:
        """Returns the call with literals as arguments; raises ``ValueError`` if a value has none."""
        literals = {name: literal(value) for name, value in zip(self.arguments, values, strict=True)}
        template = copy.deepcopy(self.template)
        for node in ast.walk(template):
            if isinstance(node, ast.Name) and node.id in literals:
                node.id = literals[node.id]
        return ast.unparse(template)


@dataclass
class _Question:
    """Calls whose answers take one place in an assert.

    Attributes:
        calls: one, or those in the element of a comprehension.
        targets: the variables of the comprehension; ``None`` if there is none.
        clauses: the ``for`` and ``if`` clauses of the comprehension.
        rows: the calls as they are asked, once for every element.
        elements: values of the variables, for every row.
    """

    calls: list[_Call]
    targets: ast.expr | None = None
    clauses: list[ast.comprehension] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    elements: list[Any] = field(default_factory=list)

    def resolve(self, value: Value) -> None:
        """Takes the arguments as they were evaluated outside; raises ``ValueError`` if they cannot be literals."""
        if value.answer != "returned":
            raise ValueError(value.detail)
        if len(value.value) > MAX_LOOP:
            raise ValueError(f"more than {MAX_LOOP} elements")
        self.elements = [element for element, _ in value.value]
        self.rows = [
            [call.filled(given) for call, given in zip(self.calls, row, strict=True)] for _, row in value.value
        ]

    def arguments(self) -> str:
        """Returns an expression for the arguments of all calls, with the elements."""
        rows = ast.Tuple([ast.Tuple(list(call.arguments.values()), ast.Load()) for call in self.calls], ast.Load())
        element = ast.Tuple([self.targets or ast.Constant(None), rows], ast.Load())
        if self.targets is None:
            return f"[{ast.unparse(element)}]"
        return ast.unparse(ast.ListComp(element, self.clauses))

    def data(self, answers: list[list[Any]]) -> Any:
        """Returns what takes the place of the question in the assert."""
        return answers[0][0] if self.targets is None else list(zip(self.elements, answers, strict=True))


@dataclass
class _Parts:
    """An assert taken apart.

    Attributes:
        statement: the assert.
        questions: for the program.
        rest: the condition, with a name for each answer.
        fault: why it cannot be judged apart from the program; empty if it can.
    """

    statement: str
    questions: list[_Question] = field(default_factory=list)
    rest: ast.expr = field(default_factory=lambda: ast.Constant(False))
    fault: str = ""


class _Inseparable(Exception):
    """An assert cannot be judged apart from the program."""


def check_asserts(
    sandbox: Sandbox,
    program: str,
    asserts: Sequence[str],
    setup: str = "",
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    entry_point: str = "",
) -> Checked:
    """Runs a program and checks asserts about it.

    The asserts are checked in order, in one process. A call that does not end leaves those after it unanswered, and their
    asserts fail.

    Args:
        sandbox: to run in.
        program: the source.
        asserts: statements, one ``assert`` each.
        setup: imports and helper functions of the asserts.
        limits: of each run; there are two or three.
        entry_point: the only name that the program is asked for. Without it, the program is asked for every name that is not
            defined elsewhere.

    Raises:
        ValueError: one of ``asserts`` is no single assert statement, or ``setup`` is no Python.
    """
    task = _Setup(setup, entry_point)
    parts = [_take_apart(statement, task) for statement in asserts]
    _resolve(sandbox, task, parts, limits)
    rows = [row for part in parts for question in part.questions for row in question.rows]
    calls = [call for row in rows for call in row]
    given = task.source(_names_in(calls), imports=True)
    result = sandbox.run(f"{program}\n{given}" if given else program, calls, limits)
    answers = iter(result.values)
    checks: dict[int, Check] = {}
    data: dict[int, list[Any]] = {}
    for place, part in enumerate(parts):
        values = [[[next(answers) for _ in row] for row in question.rows] for question in part.questions]
        bad = [value for question in values for row in question for value in row if value.answer != "returned"]
        if part.fault:
            checks[place] = Check(part.statement, False, False, part.fault)
        elif bad:
            checks[place] = Check(part.statement, False, True, bad[0].detail)
        else:
            data[place] = [
                question.data([[value.value for value in row] for row in answered])
                for question, answered in zip(part.questions, values, strict=True)
            ]
    if data:
        text = repr(list(data.values()))
        used = "".join(line for name, line in _NAMES.items() if name in text)
        own = task.source({name for place in data for name in _names(parts[place].rest)})
        rests = [_filled(parts[place], number) for number, place in enumerate(data)]
        # The values are data from here on: the limit of a program's size does not apply to writing them down.
        roomy = replace(limits, program=limits.program + 16 * limits.values)
        judge = sandbox.run(f"{used}{_ANSWERS} = {text}\n{own}", rests, roomy)
        for place, value in zip(data, judge.values, strict=True):
            passed = value.answer == "returned" and value.value is True
            detail = "" if passed else value.detail or "it does not hold"
            checks[place] = Check(parts[place].statement, passed, True, detail)
    return Checked(tuple(checks[place] for place in range(len(parts))), result)


def inseparable(asserts: Sequence[str], setup: str = "", entry_point: str = "") -> list[str]:
    """Returns the asserts that ``check_asserts`` never passes, because they cannot be judged apart from the program.

    It knows them without running anything; the clauses of a comprehension may still turn out to need the program.
    """
    task = _Setup(setup, entry_point)
    return [statement for statement in asserts if _take_apart(statement, task).fault]


def _resolve(sandbox: Sandbox, task: "_Setup", parts: Sequence[_Parts], limits: Limits) -> None:
    """Evaluates arguments of calls without the program, where they are not literals already."""
    open_questions = []
    for part in parts:
        for question in part.questions:
            if question.targets is None and not question.calls[0].arguments:
                question.rows = [[question.calls[0].source]]
            else:
                open_questions.append((part, question))
    if not open_questions:
        return
    expressions = [question.arguments() for _, question in open_questions]
    result = sandbox.run(task.source(_names_in(expressions)), expressions, limits)
    for (part, question), value in zip(open_questions, result.values, strict=True):
        try:
            question.resolve(value)
        except ValueError as error:
            if question.targets is None:  # an object of the task's own, a function
                question.rows = [[question.calls[0].source]]
            else:
                part.fault, part.questions = f"its elements are no plain data: {error}", []


class _Statement:
    """A statement of a setup: the names that it binds or changes, and those that it uses."""

    def __init__(self, node: ast.stmt) -> None:
        self.node = node
        self.uses = _names(node)
        self.is_import = isinstance(node, (ast.Import, ast.ImportFrom))
        self.binds = set()
        for inner in ast.walk(node):
            if isinstance(inner, ast.alias):
                self.binds.add((inner.asname or inner.name).split(".")[0])
            elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.binds.add(inner.name)
            elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                self.binds.add(inner.id)
        self.changes = set() if self.binds else self.uses


class _Setup:
    """The setup of a task's asserts, and which names mean what.

    Args:
        setup: the source.
        entry_point: the only name of the program, or empty.
    """

    def __init__(self, setup: str, entry_point: str) -> None:
        try:
            body = ast.parse(setup).body
        except (SyntaxError, ValueError) as error:
            raise ValueError(f"expected Python as the setup of asserts, got {setup[:100]!r} ({error})") from None
        self.entry_point = entry_point
        self.statements = [_Statement(node) for node in body]
        self.bound = frozenset(name for statement in self.statements for name in statement.binds)
        self.dependent: set[str] = set()
        while (
            found := {
                name
                for statement in self.statements
                if any(self.is_unknown(used) or used in self.dependent for used in statement.uses)
                for name in statement.binds | (statement.changes & self.bound)
            }
            - self.dependent
        ):
            self.dependent |= found

    def is_unknown(self, name: str) -> bool:
        """Returns whether only the program can define a name."""
        if name == self.entry_point:
            return True
        return not any(name in known for known in (self.bound, _BUILTINS, MODULES, _EXPORTED))

    def is_asked(self, name: str, called: bool = False) -> bool:
        """Returns whether the program is asked for a name; a module is not called."""
        if self.entry_point:
            return name == self.entry_point
        return self.is_unknown(name) or (called and name in MODULES - self.bound)

    def is_builtin(self, name: str, kinds: frozenset[str]) -> bool:
        """Returns whether a name means one of some builtins."""
        return name in kinds and name not in self.bound and name != self.entry_point

    def source(self, names: set[str], imports: bool = False) -> str:
        """Returns the part of the setup that defines names, and all imports if those are wanted."""
        names = set(names)
        taken: list[_Statement] = []
        while more := [
            statement
            for statement in self.statements
            if statement not in taken and ((statement.binds | statement.changes) & names)
        ]:
            taken += more
            names = names.union(*(statement.uses for statement in more))
        lines = [
            ast.unparse(statement.node)
            for statement in self.statements
            if (statement in taken or (imports and statement.is_import)) and not _is_future(statement.node)
        ]
        known = {name: f"from {module} import {name}" for name, module in _EXPORTED.items()}
        known |= {name: f"import {name}" for name in MODULES}
        return "\n".join([known[name] for name in sorted((names - self.bound) & known.keys()) if not imports] + lines)

    def fault(self, names: set[str]) -> str:
        """Returns why names cannot be used outside the program; empty if they can."""
        if missing := sorted(name for name in names if self.is_unknown(name) or name in self.dependent):
            return f"only the program could define {missing[0]}"
        source = ast.parse(self.source(names))
        imported = [alias.name for node in ast.walk(source) if isinstance(node, ast.Import) for alias in node.names]
        imported += [node.module or "." for node in ast.walk(source) if isinstance(node, ast.ImportFrom)]
        refused = [name for name in imported if name.split(".")[0] not in MODULES]
        refused += [name for name in sorted(names | _names(source)) if self.is_builtin(name, _EXECUTING)]
        return f"{refused[0]} could run an answer as code" if refused else ""


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _names(node: ast.AST) -> set[str]:
    """Returns the names that some syntax uses and does not bind itself."""
    used: set[str] = set()
    bound: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            (used if isinstance(inner.ctx, ast.Load) else bound).add(inner.id)
        elif isinstance(inner, ast.arg):
            bound.add(inner.arg)
    return used - bound


def _names_in(expressions: Iterable[str]) -> set[str]:
    return {name for expression in expressions for name in _names(ast.parse(expression))}


def _parse(statement: str) -> ast.Assert:
    try:
        body = ast.parse(statement.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = []
    if len(body) != 1 or not isinstance(body[0], ast.Assert):
        raise ValueError(f"expected one assert statement, got {statement[:200]!r}")
    return body[0]


def _take_apart(statement: str, task: _Setup) -> _Parts:
    """Separates what the program is asked for from the rest of an assert."""
    separate = _Separate(task)
    test = _parse(statement).test
    separate.locals = {node.target.id for node in ast.walk(test) if isinstance(node, ast.NamedExpr)}
    try:
        rest = separate.visit(test)
        if not separate.questions:
            raise _Inseparable("it does not call the program")
        names = _names(rest).union(*(_names(ast.parse(question.arguments())) for question in separate.questions))
        if fault := task.fault({name for name in names if not name.startswith(_ANSWER)}):
            raise _Inseparable(fault)
    except _Inseparable as error:
        return _Parts(statement, fault=f"it cannot be judged apart from the program: {error}")
    return _Parts(statement, separate.questions, rest)


class _Separate(ast.NodeTransformer):
    """Replaces the questions to the program by names."""

    def __init__(self, task: _Setup) -> None:
        self.task = task
        self.questions: list[_Question] = []
        self.locals: set[str] = set()
        """Variables of the comprehensions and lambdas around the node that is visited."""
        self.loop: tuple[set[str], list[_Call]] | None = None
        """Variables of the one comprehension around it, and the calls found so far."""

    def visit(self, node: ast.AST) -> Any:
        """Replaces a node if the program is asked for it, else visits its children."""
        if isinstance(node, ast.expr) and self.is_asked(node):
            if isinstance(node, ast.Name) and self.task.entry_point:
                raise _Inseparable("it uses the function without calling it")
            return self.ask(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Lambda) and self.arranges(node):
            node = self.with_answers(node)
            return ast.Subscript(
                self.answer(_Question([_Call(ast.unparse(node), node, {})])), ast.Constant(0), ast.Load()
            )
        return super().visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Lets the program turn its iterators into lists where they are consumed."""
        if self.is_asked(node.func):
            raise _Inseparable(f"{ast.unparse(node.func)} takes an answer of the program and is not defined outside")
        if isinstance(node.func, ast.Name) and self.task.is_builtin(node.func.id, _CONSUMERS):
            is_next = node.func.id == "next"
            for place, argument in enumerate(node.args):
                if self.is_asked(argument):
                    listed = self.ask(argument, listed="[next(value)]" if is_next else "[*value]")
                    node.args[place] = _expression("iter(value)", listed) if is_next else listed
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Refuses attributes of modules that nothing outside imports."""
        if isinstance(node.value, ast.Name) and self.is_program(node.value.id) and self.is_module(node.value.id):
            raise _Inseparable(f"{node.value.id} is a module")
        return self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Visits a function; the program is asked for nothing that depends on its parameters."""
        outer = self.locals, self.loop
        self.locals, self.loop = (
            self.locals | {inner.arg for inner in ast.walk(node.args) if isinstance(inner, ast.arg)},
            None,
        )
        node.body = self.visit(node.body)
        self.locals, self.loop = outer
        return node

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> ast.AST:
        """Visits a comprehension; the calls in its element are asked once for every element."""
        outer = self.locals, self.loop
        targets = [clause.target for clause in node.generators]
        variables = {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        self.locals, self.loop = self.locals | variables, None
        before = len(self.questions)
        for clause in node.generators:
            self.generic_visit(clause)
        pure = len(self.questions) == before
        calls: list[_Call] = []
        self.loop = (variables, calls)
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                setattr(node, part, self.visit(getattr(node, part)))
        self.locals, self.loop = outer
        if not calls:
            return node
        if not pure or outer[0]:
            raise _Inseparable("the elements of a comprehension depend on the program")
        loaded = [ast.parse(ast.unparse(target), mode="eval").body for target in targets]
        question = _Question(calls, ast.Tuple(loaded, ast.Load()), node.generators)
        names: list[ast.expr] = [ast.Name(f"{_CALL}{place}", ast.Store()) for place in range(len(calls))]
        target = ast.Tuple([ast.Tuple(targets, ast.Store()), ast.List(names, ast.Store())], ast.Store())
        node.generators = [ast.comprehension(target, self.answer(question), [], 0)]
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def is_asked(self, node: ast.AST) -> bool:
        """Returns whether the program is asked for a name, a call of it, or an attribute of an object of its own."""
        task = self.task
        if isinstance(node, ast.Name):
            return self.is_program(node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if task.is_builtin(node.func.id, _CONVERSIONS):
                return len(node.args) == 1 and not node.keywords and self.is_own_object(node.args[0])
            return self.is_program(node.func.id, called=True) and not self.is_helper(node)
        if isinstance(node, ast.Call):
            return self.is_asked(node.func)
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            if not self.is_asked(node.value):
                return False
            if isinstance(node.value, ast.Name):
                return isinstance(node, ast.Subscript) or not self.is_module(node.value.id)
            return self.is_own_object(node.value) or (isinstance(node, ast.Attribute) and node.attr not in _METHODS)
        return False

    def is_program(self, name: str, called: bool = False) -> bool:
        """Returns whether the program is asked for a name of the assert."""
        return name not in self.locals and not name.startswith((_ANSWER, _CALL)) and self.task.is_asked(name, called)

    def is_own_object(self, node: ast.AST) -> bool:
        """Returns whether a node makes an object of a class of the program's, by the usual spelling of classes."""
        is_class = (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.lstrip("_")[:1].isupper()
        )
        return is_class and self.is_asked(node)

    def is_module(self, name: str) -> bool:
        """Returns whether a name with an attribute means a module."""
        return name in sys.stdlib_module_names and name != self.task.entry_point

    def is_helper(self, node: ast.Call) -> bool:
        """Returns whether a call compares the answer of another call with something, as ``close(f(1), 2.5)`` does."""
        if self.task.entry_point or len(node.args) + len(node.keywords) < 2:
            return False
        below = (inner for part in (*node.args, *node.keywords) for inner in ast.walk(part))
        called = [inner for inner in below if isinstance(inner, ast.Call) and self.is_asked(inner)]
        return any(not self.is_own_object(inner) and ast.dump(inner.func) != ast.dump(node.func) for inner in called)

    def arranges(self, node: ast.Call) -> bool:
        """Returns whether a lambda, called at once, only arranges answers of the program."""
        assert isinstance(node.func, ast.Lambda)
        given = [*node.args, *node.keywords]
        if self.depends(node) or any(self.is_asked(inner) for part in given for inner in ast.walk(part)):
            return False
        found = False

        def plain(inner: ast.AST) -> bool:
            nonlocal found
            if self.is_asked(inner) and isinstance(inner, ast.Call):
                found = True
                return True
            return isinstance(inner, _ARRANGING) and all(map(plain, ast.iter_child_nodes(inner)))

        return plain(node.func.body) and found

    def with_answers(self, node: ast.Call) -> ast.Call:
        """Adds the answers inside a lambda to its result: one that is no plain data fails the assert."""
        separate, names = self, list[ast.expr]()

        class Name(ast.NodeTransformer):
            def visit(self, inner: ast.AST) -> Any:
                if not isinstance(inner, ast.Call) or not separate.is_asked(inner):
                    return self.generic_visit(inner)
                name = f"{_CALL}{len(names)}"
                names.append(ast.Name(name, ast.Load()))
                return ast.NamedExpr(ast.Name(name, ast.Store()), inner)

        assert isinstance(node.func, ast.Lambda)
        body: ast.expr = Name().visit(copy.deepcopy(node.func.body))
        function = ast.Lambda(node.func.args, ast.Tuple([body, ast.List(names, ast.Load())], ast.Load()))
        return ast.Call(function, node.args, node.keywords)

    def depends(self, node: ast.AST) -> bool:
        return bool(_names(node) & self.locals)

    def ask(self, node: ast.expr, listed: str = "") -> ast.expr:
        """Returns the name for the answer to a node."""
        call = self.call(node, listed)
        if not self.depends(node):
            return self.answer(_Question([call]))
        if self.loop is None or _names(node) & self.locals - self.loop[0] or _names(call.template) & self.locals:
            raise _Inseparable("a call depends on a variable of the assert")
        self.loop[1].append(call)
        return ast.Name(f"{_CALL}{len(self.loop[1]) - 1}", ast.Load())

    def call(self, node: ast.expr, listed: str) -> _Call:
        """Returns a question, with the arguments that can be evaluated outside."""
        template = copy.deepcopy(node)
        arguments: dict[str, ast.expr] = {}

        def take(argument: ast.expr) -> ast.expr:
            names = _names(argument)
            is_literal = names <= _BUILTINS - self.locals
            if isinstance(argument, ast.Starred) or is_literal or self.task.fault(names - self.locals):
                return argument
            arguments[f"{_ARGUMENT}{len(arguments)}"] = argument
            return ast.Name(f"{_ARGUMENT}{len(arguments) - 1}", ast.Load())

        inner: ast.AST = template
        while isinstance(inner, (ast.Attribute, ast.Subscript, ast.Call)):
            if isinstance(inner, ast.Call):
                inner.args = [take(argument) for argument in inner.args]
                for keyword in inner.keywords:
                    keyword.value = take(keyword.value)
                inner = inner.func
            else:
                inner = inner.value
        if listed:
            text = f"(lambda value: {listed} if hasattr(type(value), '__next__') else value)(value)"
            node, template = _expression(text, node), _expression(text, template)
        return _Call(ast.unparse(node), template, arguments)

    def answer(self, question: _Question) -> ast.Name:
        """Returns a new name for the answer to a question."""
        self.questions.append(question)
        return ast.Name(f"{_ANSWER}{len(self.questions) - 1}", ast.Load())


def _expression(text: str, value: ast.expr) -> ast.expr:
    """Returns an expression with a value put in at the last use of ``value``."""
    tree = ast.parse(text, mode="eval").body
    assert isinstance(tree, ast.Call)
    tree.args[-1] = value
    return tree


def _filled(part: _Parts, place: int) -> str:
    """Returns the rest of an assert as an expression over the answers in a place of their list."""
    names = ", ".join(f"{_ANSWER}{number}" for number in range(len(part.questions)))
    return f"bool((lambda {names}: {ast.unparse(part.rest)})(*{_ANSWERS}[{place}]))"
