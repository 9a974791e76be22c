"""A human player at a terminal."""

import asyncio
import itertools
import re
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, TextIO

from agents.errors import Quit
from llmarena_envs.core.codec import ReplyPart
from llmarena_envs.core.terminal import printable, wrapped

HELP = (
    "? lists the legal moves, ?? shows the whole text again, q leaves. A reply can have several lines: end a line with \\ to"
    " continue, or write a block between lines of ```."
)
PARTS_HELP = "Enter alone asks for the parts of the reply one by one."

_PROMPT = "You> "

_MAX_SHOWN = 12
"""Maximum number of numbered moves shown above the prompt."""

_MAX_NUMBERED = 199
"""Maximum number of moves that can be chosen by number; longer lists are truncated."""

_MIN_HIDDEN = 6
"""Minimum number of lines at the beginning of a text that are hidden if they have been shown."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class HumanPolicy:
    """Shows a person the model's text, without requests for reasoning or JSON, and returns the typed reply.

    The rules are shown once, at the first turn of a match, and so are long beginnings of the text. Replies are checked like a
    model's: the person is asked again until the move is legal. A listed move can be chosen by its number. ``?`` lists the legal
    moves, ``q`` or the end of the input leaves.

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
        self.reset("", 0)

    def reset(self, agent: str, seed: int) -> None:
        """Starts a match: the rules are shown again at the next turn."""
        self._knows_rules = False
        self._known: list[str] = []

    def recall(self, observation: dict[str, Any], reply: str) -> None:
        """Does nothing: every text shows the complete state."""

    def watch(self, observation: Mapping[str, Any]) -> None:
        """Shows the text at the end of the match."""
        if observation["over"]:
            self._show_new(observation["text"])

    async def __call__(self, observation: dict[str, Any]) -> str:
        """Returns the person's reply; other matches continue in the meantime.

        Raises:
            Quit: if the person leaves.
        """
        legal, parts = observation.get("legal", []), observation.get("parts", ())
        moves = numbered(legal)
        if not self._knows_rules:
            self._show(f"{observation['rules']}\n\n{HELP}{f' {PARTS_HELP}' if parts else ''}")
            self._knows_rules = True
        if observation.get("feedback"):
            self._show("\n".join(filter(None, (observation.get("kept"), observation["feedback"]))))
        else:
            self._show_new(observation["text"])
        if 1 < len(moves) <= _MAX_SHOWN and not _by_own_number(legal):
            self._show(
                "Moves: "
                + "  ".join(f"[{number}]\u00a0{_bare(move)}".replace(" ", "\u00a0") for number, move in moves.items())
            )
        while True:
            reply = await self._read()
            command = reply.strip().lower()
            if command == "q":
                raise Quit("you left the match")
            if command == "?":
                self._show(_listed(legal, moves))
            elif command == "??":
                self._show(f"{observation['rules']}\n\n{observation['text']}")
            elif command:
                return moves.get(command, reply)
            elif parts:
                texts = {part.name: await self._read_part(part) for part in parts}
                if any(text.strip() for text in texts.values()):
                    return str(observation["join_parts"](texts))

    async def _read_part(self, part: ReplyPart) -> str:
        """Returns the text of a part of a reply."""
        choices = f" ({', '.join(part.choices)})" if part.choices else ""
        while True:
            text = await self._read(f"{printable(part.label)}{choices}> ")
            chosen = next((choice for choice in part.choices if choice.lower() == text.strip().lower()), "")
            if chosen or not part.choices:
                return chosen or text

    def _show_new(self, text: str) -> None:
        """Shows a text without a long beginning that has been shown."""
        lines = text.split("\n")
        pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(lines, self._known, strict=False))
        same = min(sum(1 for _ in pairs), len(lines) - _MIN_HIDDEN)
        self._known = lines
        if same >= _MIN_HIDDEN:
            lines = [f"({same} lines as before)", *lines[same:]]
        self._show("\n" + "\n".join(lines))

    def _show(self, text: str) -> None:
        screen = self._screen or sys.stdout
        shown = printable(text)
        print(_wrapped(shown, shutil.get_terminal_size().columns) if screen.isatty() else shown, file=screen)

    async def _read(self, prompt: str = _PROMPT) -> str:
        """Returns one reply; it can have several lines."""
        source, screen, lines = self._source or sys.stdin, self._screen or sys.stdout, list[str]()
        while not lines or lines[-1].endswith("\\") or _is_in_block(lines):
            print("... " if lines else prompt, end="", file=screen, flush=True)
            try:
                await _typed(source)
                with _interruptible():
                    line = source.readline()
                if not line:
                    raise Quit("the input has ended")
            except (asyncio.CancelledError, Quit):
                print(file=screen)
                raise
            lines.append(line.rstrip("\r\n"))
        return "\n".join([line.removesuffix("\\") for line in lines[:-1]] + lines[-1:])


def numbered(legal: Sequence[str]) -> dict[str, str]:
    """Returns the legal moves by the number that stands for them; none if numbers would be ambiguous.

    Moves that differ in one number, such as columns, are chosen by this number, all others by their place in the list.

    Args:
        legal: the legal moves as replies.
    """
    if len(legal) > _MAX_NUMBERED or any(_NUMBER.fullmatch(_bare(move)) for move in legal):
        return _by_own_number(legal)
    return _by_own_number(legal) or {str(place): move for place, move in enumerate(legal, start=1)}


def _by_own_number(legal: Sequence[str]) -> dict[str, str]:
    """Returns the moves by the only number in each of them; none if two moves have the same number."""
    numbers = [found[0] for move in legal if len(found := _NUMBER.findall(_bare(move))) == 1]
    return dict(zip(numbers, legal, strict=True)) if len(set(numbers)) == len(legal) else {}


def _bare(move: str) -> str:
    """Returns a move without the label before it."""
    return move.partition(": ")[2] or move


def _listed(legal: Sequence[str], moves: Mapping[str, str]) -> str:
    """Returns the list of the legal moves, with their numbers if there are any."""
    if not legal:
        return "The legal moves cannot be listed."
    if len(legal) > _MAX_NUMBERED:
        return f"There are {len(legal)} legal moves or more; the first is {legal[0]}"
    if not moves:
        return "\n".join(["Legal moves:", *legal])
    return "\n".join(["Legal moves:", *(f"[{number}] {move}" for number, move in moves.items())])


def _is_in_block(lines: Sequence[str]) -> bool:
    """Returns whether a block between lines of ``` is open."""
    return sum(line.lstrip().startswith("```") for line in lines) % 2 == 1


def _wrapped(text: str, columns: int) -> str:
    """Returns a text wrapped to ``columns``; each line of a quotation keeps its mark."""
    lines = []
    for line in text.split("\n"):
        mark = "> " if line.startswith("> ") else ""
        lines += [mark + part for part in wrapped(line[len(mark) :], columns - len(mark)).split("\n")]
    return "\n".join(lines)


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
