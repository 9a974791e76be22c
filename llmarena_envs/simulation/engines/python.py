"""A prompt of Python, in the sandbox: every request runs the session again from its beginning and prints what is new."""

from typing import ClassVar

from llmarena_envs.sandbox import Limits, call, find_sandbox
from llmarena_envs.simulation.engines import python_session
from llmarena_envs.simulation.engines.engine import MAX_OUTPUT, Engine, cut_output, fault

LIMITS = Limits(seconds=10.0, cpu_seconds=2.0, memory=256 * 2**20)
"""What a request may use, with all those before it."""
MAX_SESSION = 100_000
"""Characters of all requests that the prompt remembers."""
_UNDONE = {"timeout": "out of time", "memory": "out of memory"}


class PythonPrompt(Engine):
    """An interactive prompt of Python with few modules, no files and no clock.

    The value of an expression is printed as ``repr`` unless it is ``None``, an exception as its last line. What a request did
    before it raised remains. A request that has to be ended (``ERROR: ...``) leaves everything as it was.

    Raises:
        SandboxError: on construction, if nothing on this machine isolates programs.
    """

    name: ClassVar[str] = "python"
    runs_programs: ClassVar[bool] = True

    def __init__(self) -> None:
        find_sandbox()
        self._requests: tuple[str, ...] = ()

    def respond(self, request: str) -> str:
        """Returns what a prompt prints when the request is entered, which may be several statements on several lines."""
        if unreadable := fault(request):
            return f"ERROR: {unreadable}"
        if not request.strip():
            return ""
        if sum(map(len, self._requests)) + len(request) > MAX_SESSION:
            return "ERROR: the session is full"
        session = (*self._requests, request)
        result = find_sandbox().run(python_session.source(), [call("run_session", session, MAX_OUTPUT)], LIMITS)
        (answer,) = result.values
        if result.status != "ok" or not isinstance(answer.value, str):
            return f"ERROR: {_UNDONE.get(result.status, 'the prompt was stopped')}"
        self._requests = session
        return cut_output(answer.value.removesuffix("\n"))

    def state(self) -> str:
        """Returns the session's requests."""
        return "\n".join(self._requests)
