"""Templates of the pages, and server-sent events that announce changes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from typing import Any

import jinja2
from starlette.responses import HTMLResponse, StreamingResponse

from agents.records import encodable
from llmarena_envs.core.terminal import printable

_HEARTBEAT = 15.0
"""Seconds between keep-alive messages, which reveal a lost connection."""


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rating.viewer.web"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["shown"] = _shown
    return environment


def _shown(text: object) -> str:
    """Returns untrusted text made safe for a page: printable, encodable, without characters that reorder lines."""
    return encodable(printable(str(text)))


def page(template: str, code: int = 200, /, **values: Any) -> HTMLResponse:
    """Renders a template. Text is escaped unless it is ``Markup``."""
    return HTMLResponse(_environment().get_template(template).render(**values), code)


def events(version: str, change_after: Callable[[str], Awaitable[str]]) -> StreamingResponse:
    """Streams the version of a page as server-sent events: the current one, then each new one.

    Args:
        version: current version.
        change_after: waits until the version differs from its argument, and returns the new version.
    """

    async def stream() -> AsyncIterator[str]:
        latest = version
        yield f"retry: 1000\ndata: {latest}\n\n"
        while True:
            try:
                latest = await asyncio.wait_for(change_after(latest), _HEARTBEAT)
            except TimeoutError:
                yield ": nothing new\n\n"
            else:
                yield f"data: {latest}\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream")
