"""Engines to which every line of a request is a command."""

from abc import abstractmethod
from typing import ClassVar

from llmarena_envs.core.errors import ArenaError
from llmarena_envs.simulation.engines.engine import Engine, cut_output, fault

MAX_LINES = 20
"""Commands of one request."""


class Refused(ArenaError):
    """A command that is not carried out; the text says why. It never leaves an engine."""


class LineEngine(Engine):
    """Carries out the lines of a request one after the other; the answer holds their answers in this order.

    Blank lines and blanks at the ends of a line do not count. An error ends its own line only.

    Attributes:
        error: what stands before the text of an error.
    """

    error: ClassVar[str] = "ERROR: "

    def respond(self, request: str) -> str:
        """Returns what the commands print."""
        if unreadable := fault(request):
            return f"{self.error}{unreadable}"
        commands = [line.strip() for line in request.split("\n") if line.strip()]
        if len(commands) > MAX_LINES:
            return f"{self.error}request of more than {MAX_LINES} lines"
        return cut_output("\n".join(map(self._answer, commands)))

    def _answer(self, command: str) -> str:
        try:
            return self._run(command)
        except Refused as error:
            return f"{self.error}{error}"

    @abstractmethod
    def _run(self, command: str) -> str:
        """Returns what a command prints.

        Raises:
            Refused: if it is not carried out; nothing has changed then.
        """
