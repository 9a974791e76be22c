"""The web application of a run."""

from collections.abc import Collection
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from agents.human_queue import HumanQueue
from rating.viewer.web.board import board_routes
from rating.viewer.web.links import Links
from rating.viewer.web.pages import page
from rating.viewer.web.people import people_routes
from rating.viewer.web.security import Guard


def make_app(directory: Path, links: Links, names: Collection[str], queue: HumanQueue | None = None) -> Guard:
    """Returns the web application of a run.

    Args:
        directory: run directory.
        links: secret parts of the addresses.
        names: host names of the server.
        queue: human input queue; ``None`` without human players.
    """

    async def failed(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return page("error.html", status, status=status, reason=getattr(error, "detail", ""))

    routes: list[Route | Mount] = [
        *board_routes(directory, links),
        *(people_routes(queue, links) if queue is not None else []),
        Mount("/static", StaticFiles(packages=[("rating.viewer.web", "static")])),
        Mount("/bundle", StaticFiles(packages=[("rating.viewer.report", "bundle")])),
    ]
    # The guard wraps everything, including error responses.
    return Guard(Starlette(routes=routes, exception_handlers={HTTPException: failed}), names)
