"""A person at a terminal."""

import asyncio
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, TextIO

from agents.errors import Quit
from llmarena_envs.core.terminal import printable, wrapped

HELP = "? lists the legal moves, q leaves; a line that ends with \\ goes on in the next one."


class HumanPolicy:
    """Shows a person the text that a model would read, without a call for written reasoning or JSON; returns what is typed.

    The rules are shown once, at the first turn of a match. What is typed is checked like any model's reply: the person is
    asked again until it is a legal move. ``?`` lists the legal moves, ``q`` or the end of the input leaves.

    Args:
        source: where replies come from, line by line; standard input if left out.
        screen: where texts are shown; standard output if left out.
    """

    reads: ClassVar[str] = "text"
    unlimited_reasks: ClassVar[bool] = True
    wants_legal: ClassVar[bool] = True

    def __init__(self, source: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._source = source
        self._screen = screen
        self._knows_rules = False

    def reset(self, agent: str, seed: int) -> None:
        """Begins a match: the rules are shown again at the next turn."""
        self._knows_rules = False

    def recall(self, observation: dict[str, Any], reply: str) -> None:
        """Does nothing: a person is not asked again for a turn played before, and each text tells all there is to know."""

    async def __call__(self, observation: dict[str, Any]) -> str:
        """Returns what the person replies to an observation; other matches go on while a person at a terminal thinks.

        Raises:
            Quit: if the person leaves.
        """
        if not self._knows_rules:
            self._show(f"{observation['rules']}\n\n{HELP}")
            self._knows_rules = True
        self._show(f"\n{observation['text']}")
        while True:
            reply = await self._read()
            command = reply.strip().lower()
            if command == "q":
                raise Quit("the person left the match")
            if command == "?":
                legal = observation.get("legal")
                self._show("Legal moves:\n" + "\n".join(legal) if legal else "The legal moves cannot be listed.")
            elif command:
                return reply

    def _show(self, text: str) -> None:
        screen = self._screen or sys.stdout
        shown = printable(text)
        print(wrapped(shown, shutil.get_terminal_size().columns) if screen.isatty() else shown, file=screen)

    async def _read(self) -> str:
        """Returns one reply, which may have several lines."""
        source, screen, lines = self._source or sys.stdin, self._screen or sys.stdout, list[str]()
        while not lines or lines[-1].endswith("\\"):
            print("> ", end="", file=screen, flush=True)
            await _typed(source)
            with _interruptible():
                line = source.readline()
            if not line:
                print(file=screen)
                raise Quit("the input has ended")
            lines.append(line.rstrip("\r\n"))
        return "\n".join([line.removesuffix("\\") for line in lines[:-1]] + lines[-1:])


async def _typed(source: TextIO) -> None:
    """Waits until a line has been typed, if the source is a terminal and the event loop can watch it.

    A terminal gives one line at a time, so no second one waits in a buffer of Python's. Anything else is read at once, and so
    is a terminal of Windows, whose event loop watches none: other matches wait while a person there thinks.
    """
    if not source.isatty():
        return
    loop = asyncio.get_running_loop()
    typed = asyncio.Event()
    try:
        loop.add_reader(source, typed.set)
    except NotImplementedError:
        return
    try:
        await typed.wait()
    finally:
        loop.remove_reader(source)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Lets Ctrl-C end a read at once: asyncio's own handler would take note of it and wait for the line."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        raise Quit("interrupted") from None
    finally:
        signal.signal(signal.SIGINT, handler)
