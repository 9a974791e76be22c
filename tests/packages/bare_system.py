"""Makes this Linux lack what Windows lacks, then imports the packages and plays, rates and reports a run.

Run it as a separate program: it removes modules from its whole process. Its argument is a new directory.
"""

import asyncio
import fcntl as real_fcntl  # this system's lock, to emulate the one of Windows
import importlib
import importlib.abc
import io
import os
import pkgutil
import select
import signal
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODULES = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog", "crypt", "nis", "spwd", "readline"}
ATTRIBUTES = {
    os: (
        *(
            "fork",
            "forkpty",
            "getuid",
            "geteuid",
            "getgid",
            "getpgid",
            "setsid",
            "killpg",
            "pread",
            "pwrite",
            "wait3",
            "wait4",
        ),
        *("O_CLOEXEC", "O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "sched_getaffinity", "mkfifo", "chown", "sync"),
    ),
    signal: (
        "pthread_sigmask",
        "pthread_kill",
        "sigwait",
        "alarm",
        "setitimer",
        "SIGHUP",
        "SIGQUIT",
        "SIGALRM",
        "SIGUSR1",
    ),
    select: ("poll", "epoll"),
}
EXTRAS = {"torch", "transformers", "trl", "datasets", "verifiers", "openenv", "textarena", "pyarrow", "ray", "psycopg"}
"""Modules that need these are not imported: the libraries themselves are slow, or another system's matter."""


class Missing(importlib.abc.MetaPathFinder):
    """Finds none of the missing modules, and reports them as missing."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        if name.partition(".")[0] in MODULES | EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def take_away() -> None:
    """Takes away modules, functions and constants, and what only some event loops can."""
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Missing())
    for module, names in ATTRIBUTES.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)

    def unable(*_: Any) -> None:
        raise NotImplementedError

    for name in ("add_reader", "remove_reader", "add_signal_handler"):
        setattr(asyncio.SelectorEventLoop, name, unable)


def import_lock_of_windows() -> None:
    """Imports the lock as it is on Windows, over one that behaves like that system's."""

    def locking(descriptor: int, mode: int, size: int) -> None:
        try:
            real_fcntl.flock(descriptor, real_fcntl.LOCK_EX | real_fcntl.LOCK_NB)
        except BlockingIOError:
            raise PermissionError(13, "Permission denied") from None

    sys.modules["msvcrt"] = msvcrt = types.ModuleType("msvcrt")
    msvcrt.locking, msvcrt.LK_NBLCK = locking, 2
    importlib.import_module("rating.errors")  # everything that it imports on this system
    here, sys.platform = sys.platform, "win32"
    importlib.import_module("rating.play.lock")
    sys.platform = here
    del sys.modules["msvcrt"]


def modules() -> Iterator[str]:
    """Yields the modules of the packages, but for the program that runs inside of sandboxes."""
    for name in ("llmarena_envs", "agents", "rating"):
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            if found.name != "llmarena_envs.sandbox.runner" and not found.name.endswith("__main__"):
                yield found.name


def main(directory: Path) -> None:
    """Imports, plays, rates, reports, plays again, is refused."""
    for name in modules():
        try:
            importlib.import_module(name)
        except ImportError as error:
            assert (error.name or "").partition(".")[0] in EXTRAS or "pip install" in str(error), (name, error)

    from agents.human import HumanPolicy
    from llmarena_envs.sandbox.choice import find_sandbox
    from llmarena_envs.sandbox.protocol import SandboxError
    from rating.cli import main as llmarena
    from rating.errors import RunError
    from rating.play.lock import Lock

    run = directory / "run"
    (directory / "run.toml").write_text(
        "executor = 'process'\nworkers = 1\n[stop]\nmin_matches = 4\nmax_matches = 8\n[[environment]]\nname = 'tictactoe_v0'\n"
        "[[environment]]\nname = 'connect_four_v0'\n[[policy]]\nspec = 'random'\n[[policy]]\nspec = 'first_legal'\n",
        encoding="utf-8",
    )
    for command in (
        ["run", str(directory / "run.toml"), "--out", str(run)],
        ["resume", str(run)],
        ["replay", "--verify", str(run)],
        ["report", str(run)],
        ["export", str(run), "--format", "csv"],
    ):
        assert llmarena(command) == 0, command

    with Lock(run):
        try:
            Lock(run)
        except RunError as error:
            assert "another process" in str(error)
        else:
            raise AssertionError("two hold the lock")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    person = HumanPolicy(Terminal("X: (1, 1)\n"), io.StringIO())
    assert asyncio.run(person({"rules": "", "text": ""})) == "X: (1, 1)"

    try:
        find_sandbox()
    except SandboxError as error:
        assert "Linux and macOS only" in str(error)
    else:
        raise AssertionError("a sandbox without fork")


if __name__ == "__main__":
    take_away()
    import_lock_of_windows()
    main(Path(sys.argv[1]))
