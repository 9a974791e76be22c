"""Engines that run in the sandbox: every new session of requests runs from its beginning; its last output is printed."""

from abc import abstractmethod
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from llmarena_envs.sandbox import Limits, Sandbox, call
from llmarena_envs.simulation.engines.engine import MAX_OUTPUT, Engine, cut_output, fault

MAX_SESSION = 100_000
"""Maximum number of characters of all requests of a session."""
_SESSIONS = 256
"""Number of sessions whose last output is cached."""
_UNDONE = {"timeout": "out of time", "memory": "out of memory"}


class _StoppedError(Exception):
    """A request was stopped."""


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

    @staticmethod
    @abstractmethod
    def find_sandbox() -> Sandbox:
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
        try:
            output = _run_session(type(self), requests)
        except _StoppedError as error:
            return f"ERROR: {error}"
        self._requests = requests
        return cut_output(output.removesuffix("\n"))

    def state(self) -> str:
        """Returns the session's requests."""
        return "\n".join(self._requests)


@lru_cache(
    _SESSIONS
)  # scripted players and judges rebuild the engine of a match, and matches on a task repeat its requests
def _run_session(engine: type[SandboxedEngine], requests: tuple[str, ...]) -> str:
    """Returns the output of the last request of a session.

    Raises:
        _StoppedError: if it had to be stopped.
    """
    source = Path(__file__).with_name(engine.session).read_text(encoding="utf-8")
    result = engine.find_sandbox().run(source, [call("run_session", requests, MAX_OUTPUT)], engine.limits)
    (answer,) = result.values
    if result.status != "ok" or not isinstance(answer.value, str):
        raise _StoppedError(_UNDONE.get(result.status, f"the {engine.thing} was stopped"))
    return answer.value
