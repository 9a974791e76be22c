"""What guards every page: who may be asked under which name, and what a browser may do with the answer."""

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
    "referrer-policy": "same-origin",  # the address of a page is its secret; with no-referrer forms would have no origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Refuses what comes from elsewhere, and sets the headers of every answer.

    A page of somebody else can make a browser send requests here, but neither under a name of this server nor with its own
    origin unseen. Cookies are neither set nor read: who knows a secret address may use it.

    Args:
        app: what is guarded.
        names: by which this server is reached, besides numeric addresses; with any port, since a tunnel may have another one.
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
        """Says why a request is refused, or returns an empty string."""
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
    except ValueError:  # brackets without an address between them
        return ""


def _is_numeric(name: str) -> bool:
    """Says whether a name is an address itself, which no server of names can give to somebody else."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
