"""Files of programming problems in our own format, MBPP's or HumanEval's.

Ours and MBPP's: ``task_id``, ``text`` (or ``prompt``), ``code``, ``test_list``, optionally ``test_setup_code``,
``challenge_test_list``, ``entry_point``, ``buggy_code`` and ``bug``. The default ``entry_point`` is the function
defined by ``code`` and called by the first test.

HumanEval's: ``task_id``, ``prompt`` (the beginning of the program), ``entry_point``, ``canonical_solution`` and ``test``, a
program that defines ``check``.

A test is one ``assert`` statement.
"""

import ast
import re
from collections.abc import Iterable

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.records import Record
from llmarena_envs.writer_editor.task_types import Problem

_DEFINED = re.compile(r"^def[ \t]+([A-Za-z_]\w*)", re.MULTILINE)


def read_problems(records: Iterable[Record]) -> tuple[Problem, ...]:
    """Reads problems.

    Raises:
        OptionError: naming the line, if a field is missing or unusable, a problem occurs twice, or there is none.
    """
    problems: dict[str, Problem] = {}
    for number, record in enumerate(records, start=1):
        problem = _of_human_eval(record) if "canonical_solution" in record.fields else _of_mbpp(record, number)
        if problem.task_id in problems:
            raise record.error(f"task_id: {problem.task_id!r} occurs twice")
        problems[problem.task_id] = problem
    if not problems:
        raise OptionError("tasks: expected at least one problem, got none")
    return tuple(problems.values())


def _of_mbpp(record: Record, number: int) -> Problem:
    tests = record.texts("test_list") + record.texts("challenge_test_list")
    if not tests:
        raise record.error(
            f"test_list: expected a list with at least one test, got {record.fields.get('test_list')!r:.80}"
        )
    for test in tests:
        _check_test(record, test)
    code = record.text("code", "")
    return Problem(
        task_id=record.name("task_id", str(number)),
        text=record.text("text", record.text("prompt", "")) or record.text("text"),
        entry_point=_entry_point(record, code, tests[0]),
        code=code,
        test_list=tests,
        test_setup_code=_setup(record, "test_setup_code", ""),
        buggy_code=record.text("buggy_code", ""),
        bug=record.text("bug", ""),
    )


def _check_test(record: Record, test: str) -> None:
    statements = _statements(test)
    if statements is None or len(statements) != 1 or not isinstance(statements[0], ast.Assert):
        raise record.error(f"test_list: expected an assert statement, got {test!r:.80}")


def _setup(record: Record, name: str, default: str | None = None) -> str:
    setup = record.text(name, default)
    if _statements(setup) is None:
        raise record.error(f"{name}: expected Python, got {setup!r:.80}")
    return setup


def _statements(program: str) -> list[ast.stmt] | None:
    try:
        return ast.parse(program).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _of_human_eval(record: Record) -> Problem:
    prompt = record.text("prompt")
    entry_point = _entry_point(record, "", "")
    test = _setup(record, "test")
    asserts = _asserts_of_check(test, entry_point)
    # Code beyond asserts cannot be judged separately from the program, and gives no reward.
    tests = asserts or (f"assert all(check(candidate) is None for candidate in [{entry_point}])",)
    return Problem(
        task_id=record.name("task_id", entry_point),
        text=prompt,
        entry_point=entry_point,
        code=prompt + record.text("canonical_solution"),
        test_list=tests,
        test_setup_code="" if asserts else test,
    )


def _asserts_of_check(test: str, entry_point: str) -> tuple[str, ...]:
    """Returns the asserts about ``candidate`` of a program that only defines ``check(candidate)`` with asserts."""
    program = ast.parse(test).body
    checks = [part for part in program if isinstance(part, ast.FunctionDef) and part.name == "check"]
    others = [part for part in program if part not in checks and not isinstance(part, ast.Assign | ast.Expr)]
    if len(checks) != 1 or len(checks[0].args.args) != 1 or others:
        return ()
    candidate = checks[0].args.args[0].arg
    asserts = []
    for part in checks[0].body:
        if isinstance(part, ast.For):
            part = _as_assert(part)
        if not isinstance(part, ast.Assert | ast.Expr):
            return ()
        names = [node for node in ast.walk(part) if isinstance(node, ast.Name) and node.id == candidate]
        for name in names:
            name.id = entry_point
        if names and isinstance(part, ast.Assert):
            asserts.append(ast.unparse(ast.Assert(part.test)))
    return tuple(asserts)


def _as_assert(loop: ast.For) -> ast.stmt:
    """Returns one assert for a loop over asserts, or the unchanged loop if it contains anything else."""
    tests = [part.test for part in loop.body if isinstance(part, ast.Assert)]
    if len(tests) < len(loop.body) or loop.orelse:
        return loop
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    element = ast.GeneratorExp(test, [ast.comprehension(loop.target, loop.iter, [], 0)])
    return ast.Assert(ast.Call(ast.Name("all", ast.Load()), [element], []))


def _entry_point(record: Record, code: str, test: str) -> str:
    called = [name for name in _DEFINED.findall(code) if re.search(rf"\b{name}\b", test)]
    name = record.text("entry_point", called[-1] if called else "")
    if not name.isidentifier():
        raise record.error(
            f"entry_point: expected the name of a function, or code that defines one which the first test calls, got {name!r:.80}"
        )
    return name
