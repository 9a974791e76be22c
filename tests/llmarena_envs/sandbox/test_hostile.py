"""Hostile programs are contained by every backend that is here, and leave the machine as it was."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import sandlock

from llmarena_envs.sandbox import Sandbox
from llmarena_envs.sandbox.interpreter import ENVIRONMENT
from tests.llmarena_envs.sandbox.hostile import HOSTILE
from tests.llmarena_envs.sandbox.machine import BACKENDS, own_processes, wait_for

PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/dev", "/", str(Path.home()), str(Path.cwd()))

WAITED_FOR = (
    "stop_the_watcher",
    "processor_time",
    "deep_recursion",
    "broken_runner",
    "swallowed_timeouts",
    "endless_sleep",
)
"""Programs that are ended when their time is up; ``endless_loop`` is another, which is tested with every change."""


def installed_file() -> str:
    """Returns a file of a package beside the standard library of the base interpreter."""
    library = Path(sysconfig.get_path("stdlib"))
    found = next(library.glob("*-packages/*/__init__.py"), None)
    return "site-packages/none" if found is None else str(found.relative_to(library))


@pytest.fixture
def lent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mapping[str, object]]:
    """The programs' targets; checks afterwards that all of them are unchanged."""
    mark = f"mark-{os.getpid()}-{id(tmp_path)}"
    monkeypatch.setitem(ENVIRONMENT, "SANDBOX_MARK", mark)
    monkeypatch.setenv("LENT", "secret")
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    # A path of a socket may have 107 bytes at most, which pytest's folders exceed.
    short = Path(f"/tmp/s{mark}")
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as victim,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        _create_server6() as tcp6,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as named,
    ):
        udp.bind(("127.0.0.1", 0))
        abstract.bind(f"\0{mark}")
        named.bind(str(short))
        for server in (abstract, named):
            server.listen()
        yield {
            "SECRET": str(secret),
            "SOCKET": str(short),
            "PROJECT": str(Path(__file__).parents[3]),
            "PACKAGE": installed_file(),
            "TCP": tcp.getsockname()[1],
            "TCP6": tcp6.getsockname()[1],
            "UDP": udp.getsockname()[1],
            "ABSTRACT": mark,
            "TEST": os.getpid(),
            "VICTIM": victim.pid,
            "MARK": mark,
        }
        reached = []
        for server in (tcp, tcp6, udp, abstract, named):
            server.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                reached.append(server.recv(1) if server is udp else server.accept())
        assert reached == []
        assert victim.poll() is None
        victim.communicate(b"\n")
        short.unlink()
    wait_for(lambda: own_processes(mark) == [])  # killed processes take a moment to disappear
    assert list(tmp_path.iterdir()) == [secret] and secret.read_text(encoding="utf-8") == "secret"
    assert [path for place in PLACES for path in Path(place).iterdir() if path.name.startswith(mark)] == []


def _create_server6() -> socket.socket:
    """Returns a server on the loopback of IPv6, or of IPv4 on a machine without IPv6."""
    try:
        return socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        return socket.create_server(("127.0.0.1", 0))


@pytest.mark.slow_except(10)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in WAITED_FOR else ()) for name in HOSTILE]
)
def test_it_is_contained(name: str, backend: str, lent: Mapping[str, object], sandboxes: Mapping[str, Sandbox]) -> None:
    program = HOSTILE[name]
    names = "".join(f"{name} = {value!r}\n" for name, value in lent.items())
    result = sandboxes[backend].run(names + program.source, limits=program.limits)
    assert "ESCAPED" not in result.output, result.output
    assert result.status in program.statuses, (result.status, result.detail, result.output[-1000:])
    assert len(result.output) <= 4 * program.limits.output
    assert result.seconds < program.limits.seconds + 4


def test_the_suite_is_as_large_as_promised() -> None:
    assert len(HOSTILE) >= 25


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_nonce_is_not_in_the_program_s_process(
    backend: str, sandboxes: Mapping[str, Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    nonce = "0123456789abcdef" * 2
    monkeypatch.setattr("secrets.token_hex", lambda size: nonce)
    names = f"TEST = {os.getpid()}\nprint('{'ab' * 16}')\n"  # the second is found, so the search works
    result = sandboxes[backend].run(names + HOSTILE["search_for_the_nonce"].source, ["1 + 1"])
    assert result.status == "ok"
    assert "ab" * 16 in result.output.splitlines()[-1]
    assert nonce not in result.output


def test_every_backend_that_should_work_here_is_tested() -> None:
    new_enough = sandlock.landlock_abi_version() >= sandlock.min_landlock_abi()
    assert ("sandlock" in BACKENDS) == new_enough
    bwrap = shutil.which("bwrap")
    allowed = (
        bwrap is not None
        and subprocess.run([bwrap, "--unshare-user", "--ro-bind", "/", "/", bwrap, "--version"]).returncode == 0
    )
    assert ("bubblewrap" in BACKENDS) == allowed
    assert BACKENDS, "nothing isolates here, so nothing was tested"
