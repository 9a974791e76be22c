"""Which backend is taken, and that nothing runs without isolation unless it is named."""

import ctypes
import errno
import os
import platform
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import MagicMock, Mock

import pytest
import sandlock

from llmarena_envs.sandbox import SandboxError, find_sandbox, runner
from llmarena_envs.sandbox import choice as choices
from llmarena_envs.sandbox.backends import bubblewrap as bubblewrap_backend
from llmarena_envs.sandbox.backends import sandlock as sandlock_backend
from llmarena_envs.sandbox.backends.subprocesses import Subprocess
from llmarena_envs.sandbox.backends.unisolated import Unisolated
from llmarena_envs.sandbox.interpreter import executable
from llmarena_envs.sandbox.protocol import Limits
from tests.llmarena_envs.sandbox.hostile import HOSTILE
from tests.llmarena_envs.sandbox.machine import BACKENDS


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Clears the cached choice; these tests change its inputs."""
    find_sandbox.cache_clear()
    yield
    find_sandbox.cache_clear()


def test_the_first_that_isolates_is_taken() -> None:
    assert find_sandbox().name == BACKENDS[0]


@pytest.mark.slow
def test_no_backend_is_loaded_before_it_is_used() -> None:
    code = "import sys, llmarena_envs.sandbox; print('sandlock' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_without_isolation_no_program_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(sandlock_backend.importlib, "import_module", missing)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SandboxError) as caught:
        find_sandbox()
    for words in ("pip install sandlock", "apt-get install bubblewrap", "docker is not installed", '"unisolated"'):
        assert words in str(caught.value)
    assert find_sandbox("unisolated").run("print(1)").output == "1\n"


def test_an_older_kernel_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandlock, "landlock_abi_version", lambda: 4)
    with pytest.raises(SandboxError, match=r"Landlock ABI 6.*this kernel has 4"):
        find_sandbox("sandlock")
    monkeypatch.setattr(sandlock, "landlock_abi_version", lambda: -1)
    with pytest.raises(SandboxError, match="does not have or has not switched on"):
        find_sandbox("sandlock")


def test_a_backend_that_does_not_hold_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "ISOLATING", {"loose": Unisolated})
    monkeypatch.setattr(choices, "BACKENDS", {"loose": Unisolated})
    with pytest.raises(SandboxError, match="it does not hold"):
        find_sandbox("loose")
    with pytest.raises(SandboxError, match="loose: it does not hold"):
        find_sandbox()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_backend_that_shows_the_solutions_is_refused(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    solutions = MagicMock(__str__=lambda self: os.__file__, __truediv__=lambda self, name: self)
    monkeypatch.setattr(choices, "files", lambda package: solutions)
    with pytest.raises(SandboxError, match="it does not hold"):
        find_sandbox(backend)


@pytest.mark.parametrize("name", [name for name in BACKENDS if name in ("sandlock", "bubblewrap")])
def test_a_backend_that_shows_packages_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not [*Path(sysconfig.get_path("stdlib")).glob("*-packages/*")]:
        pytest.skip("this Python has no packages beside its standard library")
    module = {"sandlock": sandlock_backend, "bubblewrap": bubblewrap_backend}[name]
    monkeypatch.setattr(module, "hidden_folders", tuple)
    with pytest.raises(SandboxError, match="read packages"):
        find_sandbox(name)


@pytest.mark.parametrize("allowed", [310, 270, 438])
def test_a_watcher_that_stays_open_ends_the_run(allowed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner.os, "open", Mock(side_effect=PermissionError))
    numbers = []

    def syscall(number: int, *_: int) -> int:
        numbers.append(number)
        ctypes.set_errno(errno.EPERM)
        return 0 if number == allowed else -1

    libc = Mock(prctl=lambda *_: -1, syscall=syscall)
    if allowed in (310, 270) and (allowed == 310) != (platform.machine() == "x86_64"):
        runner.close_watcher(libc)
        assert len(numbers) == 6
    else:
        with pytest.raises(OSError, match="cannot close the watcher"):
            runner.close_watcher(libc)


def test_backend_that_cannot_start_gives_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path / "bwrap", "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="No permissions to create new namespace"):
        find_sandbox("bubblewrap")


def test_without_isolation_the_hostile_suite_would_fail(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    names = f"SECRET = {str(secret)!r}\nPROJECT = {str(tmp_path)!r}\nTEST = {os.getpid()}\n"
    result = find_sandbox("unisolated").run(names + HOSTILE["secrets"].source, limits=HOSTILE["secrets"].limits)
    assert f"ESCAPED {secret} b'secret'" in result.output
    assert result.in_force["files"] == "NOT protected"


ENGINE = """#!{python}
# Stands in for a container engine: notes what it is told, and runs the runner as an ordinary process.
import os, pathlib, sys
arguments = sys.argv[1:]
with pathlib.Path({log!r}).open("a") as log:
    print(*[a for a in arguments if "\\n" not in a], file=log)
if arguments[0] == "run":
    os.execv({python!r}, [{python!r}, *arguments[arguments.index({image!r}) + 1 :]])
sys.exit(0 if arguments[0] != "image" or arguments[2] == {image!r} else 1)
"""


def test_container_has_no_network_or_rights_and_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = f"python:{sys.version_info.major}.{sys.version_info.minor}-slim"
    log = tmp_path / "log"
    _program(tmp_path / "docker", ENGINE.format(python=executable(), log=str(log), image=image))
    monkeypatch.setenv("PATH", str(tmp_path))
    backend = choices.BACKENDS["docker"]()
    result = choices.BackendSandbox(backend).run("def f(x): return x + 1", ["f(1)"])
    assert (result.status, result.values[0].value, result.backend) == ("ok", 2, "docker")
    started, removed = log.read_text().splitlines()[-2:]
    for words in (
        "--network none",
        "--tmpfs /usr/local/lib/python",
        "--read-only",
        "--cap-drop ALL",
        "no-new-privileges",
        "--user 65534:65534",
        "--pids-limit",
        "--memory ",
        "--memory-swap",
        "--ipc none",
        "--pull never",
        "--rm",
        "--interactive",
    ):
        assert words in started, words
    name = started.split("--name ")[1].split()[0]
    assert removed == f"rm --force {name}"
    # A backend without isolation is never chosen, under any name.
    with pytest.raises(SandboxError, match="it does not hold"):
        find_sandbox("docker")


def test_a_container_needs_its_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path / "docker", ENGINE.format(python=executable(), log=str(tmp_path / "log"), image="other"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="docker pull python:"):
        find_sandbox("docker")


def test_a_command_that_does_not_exist_is_an_error_of_the_sandbox() -> None:
    with pytest.raises(SandboxError, match="did not start"):
        Subprocess(["/nonexistent/program"], {})
    assert Limits().seconds == 10


def _program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


CALLS_OF_THE_KERNEL = {
    "x86_64": {
        "keyctl": 250,
        "add_key": 248,
        "io_uring_setup": 425,
        "userfaultfd": 323,
        "ptrace": 101,
        "unshare": 272,
        "kcmp": 312,
    },
    "aarch64": {
        "keyctl": 219,
        "add_key": 217,
        "io_uring_setup": 425,
        "userfaultfd": 282,
        "ptrace": 117,
        "unshare": 97,
        "kcmp": 272,
    },
}[platform.machine()] | {"pidfd_open": 434, "pidfd_getfd": 438}


@pytest.mark.slow_except(2)
@pytest.mark.parametrize("name", CALLS_OF_THE_KERNEL if "sandlock" in BACKENDS else ())
def test_sandlock_enforces_its_denials(name: str) -> None:
    program = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)"
    arguments = (
        "os.getpid(), 0, 0, 0, 0"
        if name == "pidfd_open"
        else "os.getpid(), os.getpid(), 0, 0, 1"
        if name == "kcmp"
        else "0, 0, 0, 0, 0"
    )
    call = f"(libc.syscall({CALLS_OF_THE_KERNEL[name]}, {arguments}), ctypes.get_errno())"
    result = find_sandbox("sandlock").run(program, [call])
    assert result.values[0].value in ((-1, errno.EPERM), (-1, errno.ENOSYS))
