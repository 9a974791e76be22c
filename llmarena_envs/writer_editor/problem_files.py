"""Files of programming problems: our own layout, that of MBPP and that of HumanEval.

Ours and MBPP's: ``task_id``, ``text`` (or ``prompt``), ``code``, ``test_list``, optionally ``test_setup_code``,
``challenge_test_list``, ``entry_point``, ``buggy_code`` and ``bug``. Without ``entry_point`` the function asked for is the one
that ``code`` defines and the first test calls.

HumanEval's: ``task_id``, ``prompt`` (the beginning of the program), ``entry_point``, ``canonical_solution`` and ``test``, a
program that defines ``check``.

A test is one ``assert`` statement.
"""

import ast
import re
from collections.abc import Iterable

from llmarena_envs.core.options import OptionError
from llmarena_envs.writer_editor.records import Record
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
        test_setup_code=record.text("test_setup_code", ""),
        buggy_code=record.text("buggy_code", ""),
        bug=record.text("bug", ""),
    )


def _check_test(record: Record, test: str) -> None:
    try:
        statements = ast.parse(test).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        statements = []
    if len(statements) != 1 or not isinstance(statements[0], ast.Assert):
        raise record.error(f"test_list: expected an assert statement, got {test!r:.80}")


def _of_human_eval(record: Record) -> Problem:
    prompt = record.text("prompt")
    entry_point = _entry_point(record, "", "")
    return Problem(
        task_id=record.name("task_id", entry_point),
        text=prompt,
        entry_point=entry_point,
        code=prompt + record.text("canonical_solution"),
        test_list=(f"assert check({entry_point}) is None",),
        test_setup_code=record.text("test"),
    )


def _entry_point(record: Record, code: str, test: str) -> str:
    called = [name for name in _DEFINED.findall(code) if re.search(rf"\b{name}\b", test)]
    name = record.text("entry_point", called[-1] if called else "")
    if not name.isidentifier():
        raise record.error(
            f"entry_point: expected the name of a function, or code that defines one which the first test calls, got {name!r:.80}"
        )
    return name
