"""Errors of requests without a response."""

import itertools
import socket
import ssl
from collections.abc import Iterator

from agents.errors import ProviderError, TransientError
from agents.models.calls import CallStatus

_MAX_CAUSES = 10


def unreachable(error: BaseException, address: str) -> ProviderError:
    """Returns the exception for a request without a response; the SDK's transport reports many causes as time-outs.

    Args:
        error: raised by the transport.
        address: of the server.
    """
    causes = list(itertools.islice(_causes(error), _MAX_CAUSES))
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            return _passing(f"connection refused: no server listens at {address}")
        if isinstance(cause, socket.gaierror):
            return _passing(f"the host of {address} is not known: {cause.strerror or cause}")
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = getattr(cause, "verify_message", "") or str(cause)
            message = f"the certificate of {address} is not valid: {why}"
            return ProviderError(message, fatal=True, status=CallStatus.UNAVAILABLE)
        if isinstance(cause, ssl.SSLError):
            return _passing(f"no TLS connection to {address}: {getattr(cause, 'reason', '') or cause}")
    return _passing(next((str(cause) for cause in [*causes[1:2], error] if str(cause)), type(error).__name__))


def _passing(why: str) -> TransientError:
    return TransientError(why, status=CallStatus.UNAVAILABLE)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yields an error and its causes, the outermost first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
