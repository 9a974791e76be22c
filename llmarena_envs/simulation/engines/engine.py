"""The engine interface: an engine answers requests exactly, to compare a simulation with the truth."""

import copy
from abc import ABC, abstractmethod
from typing import ClassVar, Self

MAX_REQUEST = 10_000
"""Maximum characters of a request; longer requests get an error line."""
MAX_OUTPUT = 10_000
"""Characters of an answer."""
CUT = "... (output cut)"
"""The last line of an answer that was cut."""


class Engine(ABC):
    """A thing that answers requests, in its first state when it is made.

    The same requests give the same answers and the same state, always and everywhere: an engine knows no randomness, clock,
    file or network. Copies (``copy.copy``) and pickles are independent of the original.

    Attributes:
        name: of the engine, as tasks name it.
        runs_programs: whether it runs requests as programs, in the sandbox.
    """

    name: ClassVar[str]
    runs_programs: ClassVar[bool] = False

    @abstractmethod
    def respond(self, request: str) -> str:
        """Returns the engine's output for a request, and changes its state.

        Never raises: for an invalid request the engine's error message is the answer. Takes bounded time.

        Returns:
            At most ``MAX_OUTPUT`` characters; empty if the thing prints nothing.
        """

    @abstractmethod
    def state(self) -> str:
        """Returns the whole state as text, for spectators; equal states give equal texts."""

    def __copy__(self) -> Self:
        return copy.deepcopy(self)


def fault(request: str) -> str:
    """Returns why a request cannot be read, in a few words; empty if it can."""
    if len(request) > MAX_REQUEST:
        return f"request longer than {MAX_REQUEST} characters"
    if "\0" in request or any("\ud800" <= character <= "\udfff" for character in request):
        return "unreadable character"
    return ""


def cut_output(text: str) -> str:
    """Returns a text within ``MAX_OUTPUT``: a longer one loses its end, and a last line says so.

    Halves of characters, which no file could hold, are replaced by ``?``.
    """
    text = text.encode("utf-8", "replace").decode()
    if len(text) <= MAX_OUTPUT:
        return text
    return f"{text[: MAX_OUTPUT - len(CUT) - 1]}\n{CUT}"
