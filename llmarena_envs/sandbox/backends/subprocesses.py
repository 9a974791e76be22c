"""Shared part of backends that start a program: a subprocess with pipes, and its reliable termination."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence

from llmarena_envs.sandbox.protocol import SandboxError

NATURAL_END = 1.0
"""Seconds to wait for the runner to end itself and its children after its input is closed."""
PATIENCE = 10.0
"""Seconds to wait for the end of killed processes."""


class Subprocess:
    """A runner started by a system command.

    Args:
        command: the command.
        environment: environment variables of the command.
        before_kill: called at the end, before the command is killed.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], before_kill: Callable[[], None] | None = None
    ) -> None:
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                cwd="/",
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"{command[0]} did not start: {error}") from None
        assert self._process.stdin is not None and self._process.stdout is not None
        self.stdin, self.stdout = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._before_kill = before_kill

    def end(self) -> None:
        """Ends the command and its group."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.close()
        if self._before_kill is not None:
            self._before_kill()
        try:
            process.wait(NATURAL_END)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
        process.stdout.close()
