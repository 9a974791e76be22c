"""Nothing of a run is left over: not when its caller is killed, and not after many runs at once."""

import os
import resource
import socket
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from llmarena_envs.sandbox import Limits, Sandbox, find_sandbox
from llmarena_envs.sandbox.interpreter import ENVIRONMENT
from tests.llmarena_envs.sandbox.machine import BACKENDS, own_processes, wait_for
from tests.support.processes import running

CALLER = """
import sys
from llmarena_envs.sandbox import find_sandbox
from llmarena_envs.sandbox.interpreter import ENVIRONMENT
ENVIRONMENT["SANDBOX_MARK"] = sys.argv[2]
sandbox = find_sandbox(sys.argv[1])
print("ready", flush=True)
sandbox.run('''
import ctypes, time
ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # does not want to die with its parent
for _ in range(50):
    time.sleep(1)
''')
"""


@pytest.mark.slow
@pytest.mark.parametrize("backend", [*BACKENDS, "unisolated"])
def test_a_killed_caller_takes_the_program_along(backend: str) -> None:
    mark = f"killed-{backend}-{os.getpid()}"
    with subprocess.Popen([sys.executable, "-c", CALLER, backend, mark], stdout=subprocess.PIPE) as caller:
        assert caller.stdout is not None and caller.stdout.readline() == b"ready\n"
        wait_for(lambda: len(_below(caller.pid)) >= 2)
        started = _below(caller.pid)
        caller.kill()
    wait_for(lambda: not started & {process.pid for process in running()} and not own_processes(mark))


def _below(parent: int) -> set[int]:
    """Returns the descendants of a process; reading their environment takes the right to trace them."""
    children = {process.pid for process in running() if process.parent == parent}
    return children.union(*map(_below, children))


def _open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_many_parallel_runs_leave_no_processes(
    backend: str, sandboxes: Mapping[str, Sandbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"many-{backend}-{os.getpid()}"
    monkeypatch.setitem(ENVIRONMENT, "SANDBOX_MARK", mark)
    programs = [
        "def f(x): return x + {}",
        "import time\ntime.sleep(0.1)\ndef f(x): return x + {}",
        "import os\nos._exit({})",
        "def f(x): return [f(x) for _ in range(2)]",
    ]
    descriptors = _open_descriptors()

    def run(i: int) -> list[object]:
        result = sandboxes[backend].run(programs[i % 4].format(i), ["f(1)"], Limits(seconds=20))
        return [result.status, result.values[0].answer, result.values[0].value]

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(run, range(24)))
    for i, got in enumerate(results):
        wanted = (
            ["ok", "returned", i + 1],
            ["ok", "returned", i + 1],
            ["error", "missing", None],
            ["ok", "raised", None],
        )
        assert got == wanted[i % 4]
    wait_for(lambda: own_processes(mark) == [])
    assert _open_descriptors() <= descriptors + 4  # the package's own ones do not grow in number


OPENED = """
import os
import resource
opened = []
for descriptor in range(3, 200):
    try:
        os.fstat(descriptor)
        opened.append(descriptor)
    except OSError:
        pass
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_descriptor_of_the_caller_is_not_inherited(backend: str, sandboxes: Mapping[str, Sandbox]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.set_inheritable(True)
        result = sandboxes[backend].run(OPENED, ["len(opened)"])
    assert result.values[0].value == 2  # one channel for questions, one for answers


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("backend", [*BACKENDS, "unisolated"])
def test_a_caller_with_thousands_of_descriptors(backend: str) -> None:
    held = []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    try:
        held = [open(os.devnull) for _ in range(1100)]  # noqa: PTH123, SIM115 (they are closed below)
        assert find_sandbox(backend).run("x = 1", ["x"]).values[0].value == 1
    finally:
        for file in held:
            file.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
