"""The interactive prompt of Python, in the sandbox."""

from typing import ClassVar

from llmarena_envs.sandbox import Limits, Sandbox, find_sandbox
from llmarena_envs.simulation.engines.sandboxed import SandboxedEngine


class PythonPrompt(SandboxedEngine):
    """An interactive prompt of Python with few modules, no files and no clock.

    A request can be several statements on several lines. The value of an expression is printed as ``repr`` unless it is ``None``,
    an exception as its last line. Effects of statements before an exception remain.
    """

    name: ClassVar[str] = "python"
    thing: ClassVar[str] = "prompt"
    session: ClassVar[str] = "python_session.py"
    limits: ClassVar[Limits] = Limits(seconds=10.0, cpu_seconds=2.0, memory=256 * 2**20)

    @staticmethod
    def find_sandbox() -> Sandbox:
        """Returns the first sandbox that isolates."""
        return find_sandbox()
