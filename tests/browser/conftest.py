"""A browser for the tests of the pages, and commands that serve them."""

import io
import re
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

import pytest
from playwright.sync_api import Browser, sync_playwright

from rating.cli import main

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PATIENCE = 60.0
"""Seconds until a wait fails a test; long, for busy machines."""


@pytest.fixture(scope="module")  # while it is there no other event loop can run in this thread
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


_OWN = threading.local()


class Screens(io.TextIOBase):
    """Standard output, one per command, including a command that a failed test left running.

    Args:
        common: output of all other threads.
    """

    def __init__(self, common: TextIO) -> None:
        self._common = common

    def write(self, text: str) -> int:
        """Prints."""
        return getattr(_OWN, "screen", self._common).write(text)


class Command:
    """A command of ``llmarena`` in a thread of this process, with its output.

    Args:
        arguments: of the command.
    """

    def __init__(self, *arguments: str) -> None:
        self.output = io.StringIO()
        self.code: int | None = None
        self._thread = threading.Thread(target=self._run, args=(arguments,), daemon=True)
        if not isinstance(sys.stdout, Screens):
            sys.stdout = Screens(sys.stdout)  # until pytest puts its own there again, after each phase of a test
        self._thread.start()

    def _run(self, arguments: tuple[str, ...]) -> None:
        _OWN.screen = self.output
        self.code = main(arguments)

    def addresses(self, count: int = 1) -> list[str]:
        """Returns the addresses for players, once the given number of them is printed."""
        return self._found(r"^(.*) plays at (\S+)$", count)

    def board(self) -> str:
        """Returns the address of the board."""
        return self._found(r"^(.*) is shown at (\S+)$", 1)[0]

    def _found(self, pattern: str, count: int) -> list[str]:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = re.findall(pattern, self.output.getvalue(), re.MULTILINE)
            if len(found) >= count:
                return [address for _, address in found]
            assert self._thread.is_alive(), f"ended with {self.code}: {self.output.getvalue()}"
            time.sleep(0.02)
        raise AssertionError(f"nothing like {pattern!r} in: {self.output.getvalue()}")

    def end(self) -> int | None:
        """Waits for the end of the command and returns its exit code."""
        self._thread.join(PATIENCE)
        return self.code
