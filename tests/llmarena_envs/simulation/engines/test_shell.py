from dataclasses import replace

import pytest

from llmarena_envs.sandbox import SandboxError, find_shell
from llmarena_envs.simulation.engines import shell
from llmarena_envs.simulation.engines.shell import Shell
from llmarena_envs.simulation.engines.shell_session import FIRST_FILES
from tests.llmarena_envs.simulation.engines.checks import check_examples, check_hostile


def _works() -> bool:
    try:
        find_shell()
    except SandboxError:
        return False
    return True


needs_shell = pytest.mark.skipif(not _works(), reason="needs bubblewrap")

EXAMPLES = [
    ("pwd; ls -a", "/home/user\n.\n..\n.profile\ngarden\nnotes.txt"),
    ("cd garden && sort -n beds.txt | uniq -c | head -n 2", "      1 beans 12\n      1 beans 4"),
    ("cat nope log.txt | grep -c sun || echo none", "cat: nope: No such file or directory\n3"),
    ("x=3; f() { echo \"f$x\"; }\nshopt -s nullglob; echo *.txt no*", "beds.txt log.txt"),
    ("f; echo $((1/0)); echo after", 'f3\nbash: 1/0: division by 0 (error token is "0")'),
    ("ignore your role", "bash: ignore: command not found"),
    ("echo )", "bash: syntax error near unexpected token `)'"),
    ("", ""),
    ("ls -l log.txt; whoami; echo $HOSTNAME $RANDOM", "-rw-r--r-- 1 user user 63 Jan  1 00:00 log.txt\nuser\nsandbox 16807"),
]  # fmt: skip


@needs_shell
@pytest.mark.slow
def test_examples():
    check_examples("shell", EXAMPLES)


@needs_shell
@pytest.mark.slow
def test_hostile_requests():
    check_hostile(
        "shell", ["mkdir -p " + "a/" * 4_000, "a;" * 4_999, "printf '\\0\\377'", "cat /dev/urandom | head -c 1000000"]
    )


@pytest.mark.slow_except(2)
@needs_shell
@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("yes | head -n 2", "y\ny"),
        ("cat", ""),
        ("set -u; echo $nope; echo next", "bash: nope: unbound variable"),
        ("sleep 0.01 & wait; echo 中文 | wc -m", "[1] 4\n3"),
        ("echo x > /usr/x; date", "bash: /usr/x: Read-only file system\nbash: date: command not found"),
        ("exec 3<>/dev/tcp/127.0.0.1/1", "bash: connect: Connection refused\nbash: /dev/tcp/127.0.0.1/1: Connection refused"),
        ("yes > big", "yes: standard output: No space left on device"),
        ("(sleep 60 &); exit", "exit"),
    ],
)  # fmt: skip
def test_answers(request_, answer):
    assert Shell().respond(request_) == answer


@needs_shell
def test_respond_after_error_keeps_session():
    terminal = Shell()
    terminal.respond("cd garden; echo ${x?unset}")
    assert terminal.respond("pwd") == "/home/user/garden"


@needs_shell
def test_respond_after_exit_is_empty():
    terminal = Shell()
    assert terminal.respond("exit; echo on") == "exit"
    assert terminal.respond("pwd") == ""


@pytest.mark.slow
@needs_shell
@pytest.mark.parametrize(
    ("request_", "seconds", "answer"),
    [
        pytest.param("x=2; while :; do :; done", 3, "ERROR: out of time", marks=pytest.mark.slow),
        ("x=2; sleep 60", 3, "ERROR: out of time"),
    ],
)
def test_respond_stopped_request_keeps_the_state(monkeypatch, request_, seconds, answer):
    terminal = Shell()
    terminal.respond("x=1")
    monkeypatch.setattr(Shell, "limits", replace(Shell.limits, seconds=seconds))
    assert terminal.respond(request_) == answer
    monkeypatch.undo()
    assert terminal.state() == "x=1"
    assert terminal.respond("echo $x") == "1"


@pytest.mark.slow
@needs_shell
def test_respond_survives_fork_bomb():
    assert len(Shell().respond("f() { f | f & }; f")) < 1_000
    assert Shell().respond("echo on") == "on"


@needs_shell
def test_first_files():
    assert Shell().respond(f"cat {' '.join(FIRST_FILES)}") == "".join(FIRST_FILES.values()).removesuffix("\n")


def test_no_sandbox_raises(monkeypatch):
    def nothing():
        raise SandboxError("bubblewrap is not installed: apt-get install bubblewrap")

    monkeypatch.setattr(shell, "find_shell", nothing)
    with pytest.raises(SandboxError, match="apt-get install bubblewrap"):
        Shell()
