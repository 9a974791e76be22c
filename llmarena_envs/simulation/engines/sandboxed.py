"""Engines that run in the sandbox: every request runs the session again from its beginning and prints the new output."""

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from llmarena_envs.sandbox import Limits, Sandbox, call
from llmarena_envs.simulation.engines.engine import MAX_OUTPUT, Engine, cut_output, fault

MAX_SESSION = 100_000
"""Maximum number of characters of all requests of a session."""
_UNDONE = {"timeout": "out of time", "memory": "out of memory"}


class SandboxedEngine(Engine):
    """An interactive program in the sandbox.

    Its state is the list of its requests. A request that has to be stopped is answered with ``ERROR: ...`` and changes nothing.

    Attributes:
        thing: the program in error messages.
        session: name of the file in this folder whose ``run_session`` runs inside the sandbox.
        limits: resource limits of a request and all those before it.

    Raises:
        SandboxError: on construction, if this machine has no suitable sandbox; the message names what to install.
    """

    runs_programs: ClassVar[bool] = True
    thing: ClassVar[str]
    session: ClassVar[str]
    limits: ClassVar[Limits]

    def __init__(self) -> None:
        self.find_sandbox()
        self._requests: tuple[str, ...] = ()

    @abstractmethod
    def find_sandbox(self) -> Sandbox:
        """Returns the sandbox; raises ``SandboxError`` without one."""

    def respond(self, request: str) -> str:
        """Returns the program's output for the request."""
        if unreadable := fault(request):
            return f"ERROR: {unreadable}"
        if not request.strip():
            return ""
        if sum(map(len, self._requests)) + len(request) > MAX_SESSION:
            return "ERROR: the session is full"
        requests = (*self._requests, request)
        source = Path(__file__).with_name(self.session).read_text(encoding="utf-8")
        result = self.find_sandbox().run(source, [call("run_session", requests, MAX_OUTPUT)], self.limits)
        (answer,) = result.values
        if result.status != "ok" or not isinstance(answer.value, str):
            return f"ERROR: {_UNDONE.get(result.status, f'the {self.thing} was stopped')}"
        self._requests = requests
        return cut_output(answer.value.removesuffix("\n"))

    def state(self) -> str:
        """Returns the session's requests."""
        return "\n".join(self._requests)
