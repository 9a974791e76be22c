"""Commands that are started as a shell starts them, and end with the test."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def llmarena(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts commands in their own process groups, some of which ignore signals, and ends all of them."""
    started = []

    def start(*arguments, ignored=()):
        def ignore():
            for number in ignored:
                signal.signal(number, signal.SIG_IGN)

        errors = tmp_path / f"errors-{len(started)}"
        with errors.open("w") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "rating.cli", *map(str, arguments)],
                stdout=subprocess.DEVNULL,
                stderr=file,
                start_new_session=True,
                preexec_fn=ignore,
            )
        process.errors = errors
        started.append(process)
        return process

    yield start
    for process in started:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
        finally:
            process.wait(60)
