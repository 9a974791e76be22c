"""sandlock: Landlock and seccomp, without privileges.

https://github.com/multikernel/sandlock
"""

import importlib
import platform
import sys
from collections.abc import Mapping
from typing import Any

from llmarena_envs.sandbox.interpreter import ARGUMENTS, ENVIRONMENT, executable, hidden_folders, readable_files
from llmarena_envs.sandbox.protocol import Limits, SandboxError
from llmarena_envs.sandbox.running import runner_source

PROCESSES = 2
"""The watcher and the program's process; the program cannot start others."""
DENIED = [
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "fchown",
    "fchownat",
    "utimensat",
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "setxattrat",
    "removexattr",
    "lremovexattr",
    "fremovexattr",
    "removexattrat",
    "file_setattr",
    "quotactl",
    "inotify_init1",
    "fanotify_init",
    "shmget",
    "semget",
    "msgget",
    "mq_open",
    "prlimit64",
    "setpriority",
    "ioprio_set",
    "sched_setaffinity",
    "sched_setattr",
    "sched_setparam",
    "sched_setscheduler",
    "sync",
    "syncfs",
    "pidfd_open",
    "pidfd_getfd",
    "kcmp",
]
"""Calls that Landlock does not control: they change modes, owners and times of any of the user's files, watch files, allocate
memory beyond the limits, set limits and priorities of the user's other processes, block on disk synchronization, or take and
compare descriptors of other processes."""
DENIED_ON_X86 = ["chmod", "chown", "lchown", "utime", "utimes", "futimesat", "inotify_init"]
"""Older names of such calls, on x86 only."""


def _load() -> Any:
    """Imports sandlock; raises ``SandboxError`` if it is missing or does not work."""
    if sys.platform != "linux":
        raise SandboxError(f"sandlock needs Linux, this is {sys.platform}")
    try:
        return importlib.import_module("sandlock")
    except ImportError:
        raise SandboxError("sandlock is not installed: pip install sandlock") from None
    except OSError as error:
        raise SandboxError(f"sandlock cannot be loaded: {error}") from None


class Sandlock:
    """Runs programs with Landlock and seccomp."""

    name = "sandlock"
    tasks: int | None = None
    count: int = 0
    has_shell: bool = False

    def __init__(self) -> None:
        self._sandlock = _load()
        abi, least = self._sandlock.landlock_abi_version(), self._sandlock.min_landlock_abi()
        if abi < 1:
            raise SandboxError("sandlock needs Landlock, which this kernel does not have or has not switched on")
        if abi < least:
            raise SandboxError(f"sandlock needs Landlock ABI {least} (Linux 6.12), this kernel has {abi}")
        self.in_force: Mapping[str, str] = {
            "files": f"Landlock ABI {abi}: reads the standard library and shared libraries, "
            "changes no file, executes nothing that it cannot read",
            "network": "seccomp and Landlock: no TCP, UDP, raw or named sockets",
            "processes": "seccomp: the program starts no process; no ptrace, namespaces, bpf, io_uring, keyctl",
            "signals": "Landlock: none to processes outside",
            "memory": "RLIMIT_AS of the one process",
            "environment": "emptied; capabilities dropped",
        }

    def start(self, limits: Limits) -> "_Running":
        """Starts the runner."""
        lock = self._sandlock
        box = lock.Sandbox(
            fs_readable=[*readable_files(), "/dev/null", "/dev/urandom"],
            clean_env=True,
            env=ENVIRONMENT,
            cwd="/",
            max_processes=PROCESSES,
            fs_denied=["/proc", *hidden_folders()],
            extra_deny_syscalls=[*DENIED, *(DENIED_ON_X86 if platform.machine() == "x86_64" else [])],
        )
        piped = lock.StdioMode.PIPED
        try:
            process = box.popen(
                [executable(), *ARGUMENTS, "-c", runner_source()], stdin=piped, stdout=piped, stderr=lock.StdioMode.NULL
            )
        except (RuntimeError, lock.SandlockError) as error:
            raise SandboxError(f"sandlock did not start: {error}") from None
        return _Running(process)


class _Running:
    """A runner under sandlock; its supervisor is in this process."""

    def __init__(self, process: Any) -> None:
        self._process = process
        self.stdin, self.stdout = process.stdin.fileno(), process.stdout.fileno()

    def end(self) -> None:
        """Kills the runner's group; the wait then ends all other processes of the run."""
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
