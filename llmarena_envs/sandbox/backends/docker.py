"""Docker: a container without network, from a local Python image."""

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping

from llmarena_envs.sandbox.backends.subprocesses import PATIENCE, Subprocess
from llmarena_envs.sandbox.interpreter import ARGUMENTS, ENVIRONMENT
from llmarena_envs.sandbox.protocol import Limits, SandboxError
from llmarena_envs.sandbox.running import runner_source

TASKS = 64
"""Maximum number of threads and processes of a program."""
SPARE = 64 * 2**20
"""Additional bytes for the watcher."""


class Docker:
    """Runs programs in containers of the image ``python:3.11-slim``, or of this Python's version; never pulls it."""

    name = "docker"
    tasks: int | None = None
    count: int = 0
    has_shell: bool = False

    def __init__(self) -> None:
        self._image = f"python:{sys.version_info.major}.{sys.version_info.minor}-slim"
        program = shutil.which("docker")
        if program is None:
            raise SandboxError("docker is not installed")
        self._program = program
        self._check("version", "--format", "{{.Server.Version}}", otherwise="docker has no running engine")
        self._check("image", "inspect", self._image, otherwise=f"there is no image: docker pull {self._image}")
        self.in_force: Mapping[str, str] = {
            "files": f"image {self._image}, read-only, as nobody",
            "network": "none",
            "processes": f"PID namespace and cgroup, at most {TASKS}; no capabilities, no new privileges, Docker's seccomp",
            "signals": "PID namespace: processes outside cannot be named",
            "memory": "cgroup over all processes, and RLIMIT_AS",
            "environment": "that of the image",
        }

    def _check(self, *arguments: str, otherwise: str) -> None:
        try:
            done = subprocess.run([self._program, *arguments], capture_output=True, timeout=PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired):
            raise SandboxError(otherwise) from None
        if done.returncode != 0:
            raise SandboxError(otherwise)

    def start(self, limits: Limits) -> Subprocess:
        """Starts the runner as the first process of a container; all others end with it."""
        name = f"llmarena-{secrets.token_hex(8)}"
        memory = str(int(limits.memory) + SPARE)
        packages = f"/usr/local/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
        variables = [word for item in ENVIRONMENT.items() for word in ("--env", "=".join(item))]
        command = [
            *(self._program, "run", "--rm", "--interactive", "--name", name, "--pull", "never", "--network", "none"),
            *("--read-only", "--ipc", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
            *("--tmpfs", f"{packages}:ro", "--user", "65534:65534", "--workdir", "/"),
            *("--pids-limit", str(TASKS), "--memory", memory),
            *("--memory-swap", memory, "--log-driver", "none", *variables, "--entrypoint", "python3", self._image),
            *(*ARGUMENTS, "-c", runner_source()),
        ]

        def remove() -> None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(
                    [self._program, "rm", "--force", name], capture_output=True, timeout=PATIENCE, check=False
                )

        # The client needs its own variables to find the engine; the program gets the image's and ``ENVIRONMENT``.
        return Subprocess(command, os.environ, before_kill=remove)
