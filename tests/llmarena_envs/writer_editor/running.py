"""Runs the shipped, trusted programs in this process; programs by models run in the sandbox only."""

from typing import Any

from llmarena_envs.writer_editor.task_types import Problem


def share_passed(program: str, problem: Problem) -> float:
    """Returns the share of a problem's tests that one of the package's own programs passes."""
    passed = 0
    for test in problem.test_list:
        names: dict[str, Any] = {}
        try:
            exec(f"{problem.test_setup_code}\n{program}\n{test}", names)
        except Exception:
            continue
        passed += 1
    return passed / len(problem.test_list)
