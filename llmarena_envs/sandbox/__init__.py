r"""Isolated execution of programs written by models.

::

    sandbox = find_sandbox()
    result = sandbox.run("def add(a, b):\n    return a + b", calls=["add(1, 2)"])
    result.status, result.values[0].value  # ("ok", 3)

Dedicated packages provide the isolation (``backends/``); ``docs/sandbox.md`` describes its scope and limits.
"""

from llmarena_envs.sandbox.asserts import Check, Checked, check_asserts, inseparable
from llmarena_envs.sandbox.choice import BACKENDS, find_sandbox, find_shell
from llmarena_envs.sandbox.protocol import Limits, Result, Sandbox, SandboxError, Status, Value, call

__all__ = [
    "BACKENDS",
    "Check",
    "Checked",
    "Limits",
    "Result",
    "Sandbox",
    "SandboxError",
    "Status",
    "Value",
    "call",
    "check_asserts",
    "find_sandbox",
    "find_shell",
    "inseparable",
]
