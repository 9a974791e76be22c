"""Programs that start programs, within ``Limits.processes``."""

import os
from pathlib import Path

import pytest

from llmarena_envs.sandbox import Limits, SandboxError, call, find_sandbox, find_shell
from llmarena_envs.sandbox import programs as programs_module
from llmarena_envs.sandbox.interpreter import ENVIRONMENT
from tests.llmarena_envs.sandbox.machine import BACKENDS, own_processes, wait_for

BASH = """
import subprocess

def bash(command):
    done = subprocess.run(["/usr/bin/bash", "-c", command], stdin=subprocess.DEVNULL, stdout=-1, stderr=-2, text=True)
    return done.stdout
"""
LIMITS = Limits(processes=8)
needs_bubblewrap = pytest.mark.skipif("bubblewrap" not in BACKENDS, reason="needs bubblewrap")


@pytest.mark.parametrize("backend", [*(name for name in BACKENDS if name != "bubblewrap"), "unisolated"])
def test_other_backends_refuse_processes(backend: str) -> None:
    result = find_sandbox(backend).run(BASH, limits=LIMITS)
    assert (result.status, result.detail) == ("refused", f"programs cannot start processes with the backend {backend}")


@needs_bubblewrap
def test_shell_runs_programs_and_reads_no_other_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret", encoding="utf-8")
    commands = {
        "cd /home && mkdir a && echo x > a/b && cat a/b | tr x y; id -u": "y\n1000\n",
        f"cat {secret}": f"cat: {secret}: No such file or directory\n",
        "echo x > /usr/bin/x": "/usr/bin/bash: line 1: /usr/bin/x: Read-only file system\n",
        "echo x > /x": "/usr/bin/bash: line 1: /x: Read-only file system\n",
        "echo /home/* /tmp/*": "/home/a /tmp/*\n",
        "grep CapEff /proc/self/status": "CapEff:\t0000000000000000\n",
    }
    result = find_shell().run(BASH, [call("bash", command) for command in commands], LIMITS)
    assert {command: value.value for command, value in zip(commands, result.values, strict=True)} == commands


@needs_bubblewrap
def test_shell_folder_is_bounded() -> None:
    command = "for i in 1 2; do yes | head -c 900000 2>/dev/null > /tmp/$i; done; cat /tmp/1 /tmp/2 | wc -c"
    value = find_shell().run(BASH, [call("bash", command)], LIMITS).values[0].value
    assert 900_000 < int(value) <= 2**20


@needs_bubblewrap
def test_shell_too_many_processes_ends_the_run() -> None:
    result = find_shell().run(BASH, [call("bash", "for i in {1..30}; do sleep 9 & done; wait")], LIMITS)
    assert (result.status, result.detail) == ("killed", "more than 10 processes")


@needs_bubblewrap
def test_shell_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = f"shell-{os.getpid()}"
    monkeypatch.setitem(ENVIRONMENT, "SANDBOX_MARK", mark)
    result = find_shell().run(BASH, [call("bash", "(sleep 60 &) >/dev/null 2>&1; trap '' TERM; echo x")], LIMITS)
    assert result.values[0].value == "x\n"
    wait_for(lambda: not own_processes(mark))


@needs_bubblewrap
def test_find_shell_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    programs_module.program_files.cache_clear()
    find_shell.cache_clear()
    monkeypatch.setattr(programs_module, "PROGRAMS", ("bash", "no-such-program"))
    try:
        with pytest.raises(SandboxError, match="not installed: no-such-program; apt-get install bash coreutils"):
            find_shell()
    finally:
        programs_module.program_files.cache_clear()


def test_limits_processes_can_be_zero() -> None:
    assert Limits(processes=0).processes == 0
    with pytest.raises(ValueError, match="limit processes"):
        Limits(processes=-1)
