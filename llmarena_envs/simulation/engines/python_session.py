"""Runs inside the sandbox: a session at a prompt of Python.

The file is handed to the sandbox as text. What keeps a session from files and network is the sandbox; the short list of
modules and functions here makes a session print the same in every run, and keeps its description short.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

MODULES = frozenset(
    (
        *(
            "bisect",
            "collections",
            "copy",
            "dataclasses",
            "decimal",
            "enum",
            "fractions",
            "functools",
            "heapq",
            "itertools",
        ),
        *("json", "math", "operator", "re", "statistics", "string", "textwrap", "typing"),
    )
)
WITHOUT = ("breakpoint", "copyright", "credits", "exit", "help", "id", "input", "license", "open", "quit")
"""Built-in functions that there are not."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]++")


class Screen:
    """Collects output, up to a number of characters."""

    def __init__(self, room: int) -> None:
        self.text, self.room = "", room

    def write(self, text: str) -> int:
        """Takes a text in; returns its length."""
        if len(self.text) <= self.room:
            self.text += text[: self.room + 1]
        return len(text)

    def flush(self) -> None:
        """Does nothing: a screen shows everything at once."""


def load(name: str, names: Any = None, local: Any = None, wanted: Sequence[str] = (), level: int = 0) -> Any:
    """Imports as ``__import__`` does, from the modules that there are."""
    if level == 0 and name.split(".")[0] not in MODULES:
        raise ModuleNotFoundError(f"No module named {name.split('.')[0]!r}", name=name)
    return builtins.__import__(name, names, local, wanted, level)


def last_line(error: BaseException) -> str:
    """Returns the last line that a prompt prints for an exception."""
    kind = type(error)
    name = (
        kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    )
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
    except BaseException:
        text = "<exception str() failed>"
    return f"{name}: {text}" if text else name


def run_session(requests: Sequence[str], room: int) -> str:
    """Executes requests in order in one namespace; returns the last one's output, cut after ``room + 1``."""
    functions = {name: value for name, value in vars(builtins).items() if name not in WITHOUT}
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": {**functions, "__import__": load}}
    screen = Screen(room)

    def display(value: object) -> None:
        if value is not None:
            screen.write(f"{value!r}\n")
            space["_"] = value

    sys.displayhook = display
    for request in requests:
        sys.stdout = screen = Screen(room)
        sys.stderr = Screen(0)  # warnings are not shown
        try:
            body = ast.parse(request, "<stdin>").body
            exec(compile(ast.Interactive(body), "<stdin>", "single", dont_inherit=True), space)
        except BaseException as error:
            screen.write(f"{last_line(error)}\n")
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    return _ADDRESS.sub(" at 0x0", screen.text)


def source() -> str:
    """Returns the text of this file."""
    return Path(__file__).read_text(encoding="utf-8")
