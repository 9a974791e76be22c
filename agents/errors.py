"""What keeps a policy from replying, and a match from going on; the whole tree is described in ``llmarena_envs.core.errors``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from llmarena_envs.core.errors import ArenaError

if TYPE_CHECKING:
    from agents.models.calls import CallStatus


class PolicyError(ArenaError):
    """A policy gave no reply."""


class ProviderError(PolicyError):
    """A reply could not be had for no fault of the player: the match is void and is played again.

    Attributes:
        fatal: whether asking this policy again is useless, whatever it is asked (authentication, quota, unknown model).
        final: whether asking the same again is useless for now: every attempt that was allowed has been made, or the server
            does not take the request.
        status: what became of the call, or ``None`` if none was made.
        http_status: of the response, or ``None`` if there was none.
        request_id: by which the server knows the request, or an empty string.
        agent: id of the seat whose policy failed, once whoever plays the match has said it.
    """

    def __init__(
        self,
        message: str,
        *,
        fatal: bool = False,
        final: bool = False,
        status: "CallStatus | None" = None,
        http_status: int | None = None,
        request_id: str = "",
    ) -> None:
        super().__init__(message)
        self.fatal = fatal
        self.final = fatal or final
        self.status = status
        self.http_status = http_status
        self.request_id = request_id
        self.agent = ""


class TransientError(ProviderError):
    """A failure that may be over at the next attempt.

    Attributes:
        retry_after: seconds the server asked to wait, or 0.
        headers: those of the response that speak of limits, with names in lower case.
    """

    def __init__(
        self,
        reason: str,
        retry_after: float = 0.0,
        *,
        status: "CallStatus | None" = None,
        http_status: int | None = None,
        request_id: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(reason, status=status, http_status=http_status, request_id=request_id)
        self.retry_after = retry_after
        self.headers = dict(headers or {})


class Quit(PolicyError):
    """A person leaves: the match stays unfinished and nothing of it is lost."""


class MatchError(ArenaError):
    """A match that cannot go on."""


class EnvironmentBug(MatchError):
    """The environment broke a promise, e.g. its own bound on turns."""


class ReplayMismatch(MatchError):
    """A recorded match, played again, did not go as recorded."""
