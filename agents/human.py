"""A human player at a terminal."""

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
    """Shows a person the model's text, without requests for reasoning or JSON, and returns the typed reply.

    The rules are shown once, at the first turn of a match. Replies are checked like a model's: the person is asked again until
    the move is legal. ``?`` lists the legal moves, ``q`` or the end of the input leaves.

    Args:
        source: input, read line by line; standard input by default.
        screen: output; standard output by default.
    """

    reads: ClassVar[str] = "text"
    unlimited_reasks: ClassVar[bool] = True
    wants_legal: ClassVar[bool] = True

    def __init__(self, source: TextIO | None = None, screen: TextIO | None = None) -> None:
        self._source = source
        self._screen = screen
        self._knows_rules = False

    def reset(self, agent: str, seed: int) -> None:
        """Starts a match: the rules are shown again at the next turn."""
        self._knows_rules = False

    def recall(self, observation: dict[str, Any], reply: str) -> None:
        """Does nothing: every text shows the complete state."""

    async def __call__(self, observation: dict[str, Any]) -> str:
        """Returns the person's reply; other matches continue in the meantime.

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
        """Returns one reply; it can have several lines."""
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
    """Waits for a typed line, if the source is a terminal and the event loop can watch it.

    A terminal gives one line at a time, so Python's buffer holds no second one. Other sources are read at once. Windows event
    loops cannot watch a terminal: there, other matches wait.
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
    """Lets Ctrl-C end a read at once; asyncio's own handler would wait for the line."""
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
