"""Templates and static files of all pages, and how a page hears of changes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from typing import Any

import jinja2
from starlette.responses import HTMLResponse, StreamingResponse

from agents.records import encodable
from llmarena_envs.core.terminal import printable

_HEARTBEAT = 15.0
"""Seconds after which a page is sent something even if nothing has changed: so a lost connection is noticed."""


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rating.web"), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    environment.filters["shown"] = _shown
    return environment


def _shown(text: object) -> str:
    """Returns a text of others as a page shows it: it neither reorders lines nor keeps the page from being sent."""
    return encodable(printable(str(text)))


def page(template: str, code: int = 200, /, **values: Any) -> HTMLResponse:
    """Returns a page; every text in it is escaped unless a template says that it is a picture of ours."""
    return HTMLResponse(_environment().get_template(template).render(**values), code)


def events(version: str, change_after: Callable[[str], Awaitable[str]]) -> StreamingResponse:
    """Returns a stream of server-sent events: the version of what is shown, and every later one.

    Args:
        version: at present.
        change_after: waits until the version is another one than it is given, and returns that.
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
