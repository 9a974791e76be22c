"""The command: one line of JSON, and its exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from llmarena_envs.sandbox.__main__ import main

FIELDS = {"status", "output", "cut", "seconds", "backend", "in_force", "detail"}


@pytest.mark.parametrize(
    ("program", "arguments", "status", "code"),
    [
        ("print('hello')", (), "ok", 0),
        ("1 / 0", (), "error", 1),
        ("while True: pass", ("--timeout", "0.5"), "timeout", 1),
        ("x = bytearray(10**9)", ("--memory", "200000000"), "memory", 1),
        ("print('x' * 100)", ("--output", "10"), "output", 1),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", (), "killed", 1),
        ("print('x')", ("--backend", "unisolated"), "ok", 0),
    ],
)
def test_one_line_and_an_exit_code(
    program: str, arguments: tuple[str, ...], status: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    assert main([str(path), *arguments]) == code
    (line,) = capsys.readouterr().out.splitlines()
    shown = json.loads(line)
    assert set(shown) == FIELDS and shown["status"] == status


def test_it_is_refused_where_nothing_isolates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "program.py"
    path.write_text("print('ran')", encoding="utf-8")
    monkeypatch.setenv("PATH", "")
    assert main([str(path), "--backend", "docker"]) == 3
    shown = json.loads(capsys.readouterr().out)
    assert set(shown) == FIELDS and (shown["status"], shown["output"]) == ("refused", "")
    assert "docker is not installed" in shown["detail"]


@pytest.mark.parametrize(
    "arguments", [["nowhere.py"], ["--timeout", "-1"], ["--timeout", "nan"], ["--backend", "none"], []]
)
def test_a_wrong_command_line(arguments: list[str], tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("", encoding="utf-8")
    given = arguments if not arguments or arguments[0] == "nowhere.py" else [str(path), *arguments]
    with pytest.raises(SystemExit) as caught:
        main(given)
    assert caught.value.code == 2


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SystemExit) as caught:
        main([str(path)])
    assert caught.value.code == 2


@pytest.mark.slow
def test_it_is_a_module_that_can_be_run(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("print(__name__)", encoding="utf-8")
    command = [sys.executable, "-m", "llmarena_envs.sandbox", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    assert json.loads(done.stdout)["output"] == "__main__\n"
