"""bubblewrap: kernel namespaces, with the program ``bwrap``.

https://github.com/containers/bubblewrap
"""

import shutil
import sys
from collections.abc import Mapping

from llmarena_envs.sandbox.backends.subprocesses import Subprocess
from llmarena_envs.sandbox.interpreter import ARGUMENTS, ENVIRONMENT, executable, hidden_folders, readable_files
from llmarena_envs.sandbox.programs import program_files
from llmarena_envs.sandbox.protocol import Limits, SandboxError
from llmarena_envs.sandbox.running import runner_source

PROCESSES = 2
"""The watcher and the program's process; a run with more processes is ended."""
THREADS = 64
"""Kernel limit of a program, if the kernel counts by namespace; not enforced for root."""
WRITABLE = ("/etc", "/home", "/tmp")
"""Folders in memory that a program with processes can write to."""
FOLDER_SIZE = 2**20
"""Bytes of each of them."""
LOCALE = "/usr/lib/locale/C.utf8"
NOBODY, SHELL_USER = "65534", "1000"
"""User and group numbers without and with processes."""


class Bubblewrap:
    """Runs programs in separate namespaces."""

    name = "bubblewrap"
    tasks: int | None = THREADS
    count: int = PROCESSES
    has_shell: bool = True
    in_force: Mapping[str, str] = {
        "files": "mount namespace: only the standard library and shared libraries are there, read-only",
        "network": "network namespace without any interface",
        "processes": "PID namespace that ends with the run, and with the first process too many that the program starts; "
        "no further user namespaces, no capabilities",
        "signals": "PID namespace: processes outside cannot be named",
        "memory": "RLIMIT_AS of each process; System V shared memory is NOT bounded while the program runs",
        "environment": "emptied",
    }

    def __init__(self) -> None:
        if sys.platform != "linux":
            raise SandboxError(f"bubblewrap needs Linux, this is {sys.platform}")
        program = shutil.which("bwrap")
        if program is None:
            raise SandboxError("bubblewrap is not installed: apt-get install bubblewrap")
        self._program = program

    def start(self, limits: Limits) -> Subprocess:
        """Starts the runner as the first process of its namespace; all others end with it."""
        user = SHELL_USER if limits.processes else NOBODY
        shell = _shell_arguments() if limits.processes else []
        binds = [word for path in readable_files() for word in ("--ro-bind", path, path)]
        hidden = [word for path in hidden_folders() for word in ("--tmpfs", path, "--remount-ro", path)]
        devices = [
            word for name in ("null", "zero", "urandom") for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
        ]
        command = [
            self._program,
            *("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"),
            *("--uid", user, "--gid", user, "--hostname", "sandbox"),
            *("--die-with-parent", "--new-session", "--as-pid-1"),
            *shell,
            *binds,
            *hidden,
            *devices,
            *("--proc", "/proc", "--remount-ro", "/proc", "--remount-ro", "/", "--chdir", "/"),
            *("--", executable(), *ARGUMENTS, "-c", runner_source()),
        ]
        return Subprocess(command, ENVIRONMENT)


def _shell_arguments() -> list[str]:
    """Returns the arguments for writable folders in memory and the programs of a shell."""
    folders = [word for path in WRITABLE for word in ("--size", str(FOLDER_SIZE), "--tmpfs", path)]
    programs = [word for name, path in program_files().items() for word in ("--ro-bind", path, f"/usr/bin/{name}")]
    locale = ("--ro-bind-try", LOCALE, LOCALE)
    return [*folders, *programs, *locale, "--symlink", "usr/bin", "/bin"]
