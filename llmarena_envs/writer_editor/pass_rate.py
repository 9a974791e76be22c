"""Running a problem's tests in the sandbox."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.source import Source
from llmarena_envs.sandbox import Limits, SandboxError, check_asserts, find_sandbox, inseparable
from llmarena_envs.writer_editor.objective import PassRate
from llmarena_envs.writer_editor.task_types import Problem

AUTO = "auto"
LIMITS = Limits(seconds=10.0, cpu_seconds=5.0)
"""Limits for all tests of a problem together."""


@dataclass(frozen=True)
class SandboxedPassRate:
    """Share of a problem's tests passed by a program in a sandbox.

    Attributes:
        backend: name of the sandbox's backend, or ``"auto"``.
    """

    backend: str = AUTO

    def __call__(self, program: str, problem: Problem) -> float | None:
        """Returns the share, 0 to 1, or ``None`` if the sandbox refused to run the program."""
        return _share_passed(self.backend, program, problem)


def find_pass_rate(backend: str = AUTO) -> PassRate | None:
    """Returns a runner for a problem's tests.

    Args:
        backend: name of the sandbox's backend; by default the first that isolates, or ``None`` without one.

    Raises:
        OptionError: if the named backend is not available.
    """
    missing = _why_missing(backend)
    if missing and backend != AUTO:
        raise OptionError(f"sandbox: {missing}")
    return None if missing else SandboxedPassRate(backend)


def sandbox_source(backend: str, problems: Iterable[Problem]) -> Source:
    """Returns the sandbox of a backend on this machine, its protections, and the number of tests that always fail in it."""
    sandbox = find_sandbox(backend)
    said = [f"{what}: {how}" for what, how in sandbox.in_force.items()]
    if left_out := sum(map(_inseparable, problems)):
        said.append(f"tests: {left_out} cannot be judged apart from the program and count as failed")
    return Source(f"sandbox {sandbox.name}", "; ".join(said), "")


@cache
def _inseparable(problem: Problem) -> int:
    return len(inseparable(problem.test_list, problem.entry_point, problem.test_setup_code))


@cache
def _why_missing(backend: str) -> str:
    try:
        find_sandbox(backend)
    except SandboxError as error:
        return str(error)
    return ""


@lru_cache(maxsize=4096)  # players resubmit programs
def _share_passed(backend: str, program: str, problem: Problem) -> float | None:
    checked = check_asserts(
        find_sandbox(backend), program, problem.test_list, problem.entry_point, problem.test_setup_code, LIMITS
    )
    if checked.result.status == "refused":
        return None
    return sum(check.passed for check in checked.checks) / len(checked.checks)
