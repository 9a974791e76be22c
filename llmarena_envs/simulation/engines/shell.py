"""A Linux terminal: bash and coreutils, in the sandbox."""

from typing import ClassVar

from llmarena_envs.sandbox import Limits, Sandbox, find_shell
from llmarena_envs.simulation.engines.sandboxed import SandboxedEngine


class Shell(SandboxedEngine):
    """An interactive bash with coreutils, grep, sed and find, and a home folder in memory.

    Standard output and error are printed in order of arrival. A request can have several commands on several lines; it ends when
    all its commands have ended, including those in the background.
    """

    name: ClassVar[str] = "shell"
    thing: ClassVar[str] = "terminal"
    session: ClassVar[str] = "shell_session.py"
    limits: ClassVar[Limits] = Limits(seconds=10.0, cpu_seconds=10.0, memory=256 * 2**20, processes=32)

    @staticmethod
    def find_sandbox() -> Sandbox:
        """Returns the sandbox that has a shell."""
        return find_shell()
