"""Checks of host and origin for every request, and security headers for every response."""

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # addresses are secret; with no-referrer, forms would send no origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """ASGI middleware that rejects cross-site requests and sets security headers.

    The host check stops DNS rebinding; the origin check stops cross-site request forgery. There are no cookies: a secret
    address is the only credential.

    Args:
        app: wrapped application.
        names: host names of this server, besides numeric addresses. Any port is accepted, because a tunnel can change it.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        if refusal := self._refusal(scope):
            await PlainTextResponse(refusal, 403)(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> str:
        """Returns why a request is refused, or an empty string."""
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        name = _hostname(f"//{host}")
        if name not in self._names and not _is_numeric(name):
            return f"expected a request to {', '.join(sorted(self._names))} or a numeric address"
        if scope["method"] in ("GET", "HEAD"):
            return ""
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "expected a request of this server's own pages"
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
            return "expected a request of this server's own pages"
        return ""


def _hostname(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:  # invalid IPv6 brackets
        return ""


def _is_numeric(name: str) -> bool:
    """Returns whether a host is a literal IP address, which DNS rebinding cannot forge."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
