"""No isolation: for explicit use on a dedicated machine."""

from collections.abc import Mapping

from llmarena_envs.sandbox.backends.subprocesses import Subprocess
from llmarena_envs.sandbox.interpreter import ARGUMENTS, ENVIRONMENT, executable
from llmarena_envs.sandbox.protocol import Limits
from llmarena_envs.sandbox.running import runner_source


class Unisolated:
    """Runs programs as ordinary processes with limits of time, memory and output only."""

    name = "unisolated"
    tasks: int | None = None
    count: int = 0
    has_shell: bool = False
    in_force: Mapping[str, str] = {
        "files": "NOT protected",
        "network": "NOT blocked",
        "processes": "NOT bounded",
        "signals": "NOT blocked",
        "memory": "RLIMIT_AS of each process",
        "environment": "emptied; capabilities dropped",
    }

    def start(self, limits: Limits) -> Subprocess:
        """Starts the runner."""
        return Subprocess([executable(), *ARGUMENTS, "-c", runner_source()], ENVIRONMENT)
