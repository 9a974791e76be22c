"""Errors of policies and matches; ``llmarena_envs.core.errors`` describes the whole hierarchy."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from llmarena_envs.core.errors import ArenaError

if TYPE_CHECKING:
    from agents.models.calls import CallStatus


class PolicyError(ArenaError):
    """A policy did not reply."""


class ProviderError(PolicyError):
    """A reply failed through no fault of the player: the match is void and is replayed.

    Attributes:
        fatal: whether any retry of this policy is useless (authentication, quota, unknown model).
        final: whether repeating the request is useless for now: all allowed attempts were made, or the server rejects it.
        status: of the call, or ``None`` if none was made.
        http_status: of the response, or ``None`` without one.
        request_id: the server's id of the request, or an empty string.
        agent: id of the seat with the failed policy; set by the code that plays the match.
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
    """A failure that can be over at the next attempt.

    Attributes:
        retry_after: pause in seconds requested by the server, or 0.
        headers: rate-limit headers of the response, names in lower case.
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
    """A human player left: the match stays unfinished and can be resumed."""


class MatchError(ArenaError):
    """A match that cannot continue."""


class EnvironmentBug(MatchError):
    """The environment violated its contract, e.g. its bound on turns."""


class ReplayMismatch(MatchError):
    """The replay of a recorded match differs from the record."""
