"""Commands of ``llmarena`` that begin at once: each in a fork of a process that has everything imported."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Self


class Warm:
    """Starts commands; a context manager.

    Args:
        first: a command to play to its end in the process that forks the others.
        output: file for the output of commands.
    """

    def __init__(self, first: Sequence[object], output: Path) -> None:
        self.output = output
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.warm", str(output)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._ask([str(argument) for argument in first]) == 0, output.read_text()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(60)

    def start(self, *arguments: object) -> int:
        """Starts a command in a process group of its own and returns its id."""
        return int(self._ask([str(argument) for argument in arguments]))

    def ended(self, command: int, *, wait: bool = False) -> int | None:
        """Returns the exit code of a command, a negative signal number, or ``None`` while it is running.

        Args:
            command: its id; its exit code is returned once.
            wait: whether its end is waited for.
        """
        return self._ask({"command": command, "wait": wait})

    def _ask(self, request: object) -> int | None:
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def _serve() -> None:
    from rating.cli import main

    replies = os.fdopen(os.dup(1), "w", buffering=1)
    said = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in (1, 2):
        os.dup2(said, number)
    print(main(json.loads(sys.stdin.readline())), file=replies)
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, dict):
            child, status = os.waitpid(request["command"], 0 if request["wait"] else os.WNOHANG)
            print(json.dumps(os.waitstatus_to_exitcode(status) if child else None), file=replies)
            continue
        child = os.fork()
        if not child:
            os.setsid()
            code = main(request)
            sys.stdout.flush()
            os._exit(code)
        print(child, file=replies)


if __name__ == "__main__":
    _serve()
