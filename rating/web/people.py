"""Pages of people who play: what a model reads, a picture of it, and a form for the reply."""

import asyncio
from urllib.parse import parse_qs

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from agents.desk import Desk, Seat, StaleAnswer
from rating.web.links import Links
from rating.web.pages import events, page

MAX_BODY = 4_000_000
"""Bytes of a reply as it is sent: the longest that a game can read, with every character escaped."""

BODY_SECONDS = 60.0
"""Within which a reply must have come as a whole."""

MAX_BUTTONS = 60
"""Legal moves shown as buttons; of more there is a list to choose from."""


def people_routes(desk: Desk, links: Links) -> list[Route]:
    """Returns the routes of the pages of all people.

    Args:
        desk: where they are asked.
        links: by which they are known.
    """

    def person(request: Request) -> str:
        name = links.person(request.path_params["secret"])
        if name is None:
            raise HTTPException(404)
        return name

    def seat(request: Request) -> Seat:
        found = desk.find(person(request), request.path_params["match"])
        if found is None or not found.agent:
            raise HTTPException(404)
        return found

    async def matches(request: Request) -> Response:
        name = person(request)
        seats = desk.seats(name)
        if len(seats) == 1:
            return RedirectResponse(f"{request.url.path}/{seats[0].match}", 303)
        return page("matches.html", person=name, seats=seats, home=request.url.path, version=desk.version)

    async def show(request: Request) -> Response:
        return _seat_page(seat(request), desk, person(request), links)

    async def answer(request: Request) -> Response:
        own = seat(request)
        form = parse_qs(
            (await _read_body(request)).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=10
        )
        reply, question = (form.get(name, [""])[-1] for name in ("reply", "question"))
        try:
            own.answer(question, reply)
        except StaleAnswer:
            return _seat_page(own, desk, own.person, links, kept=reply, status=409)
        await asyncio.sleep(0)  # lets the match take the reply before the page is asked for
        return RedirectResponse(request.url.path, 303)

    async def listen(request: Request) -> Response:
        person(request)
        return events(desk.version, desk.change_after)

    return [
        Route("/play/{secret}", matches),
        Route("/play/{secret}/events", listen),
        Route("/play/{secret}/{match}", show, methods=["GET"]),
        Route("/play/{secret}/{match}", answer, methods=["POST"]),
    ]


def _seat_page(seat: Seat, desk: Desk, person: str, links: Links, *, kept: str = "", status: int = 200) -> Response:
    """Returns the page of a seat.

    Args:
        seat: the seat.
        desk: where it stands.
        person: who sits there.
        links: by which people are known.
        kept: a reply that came too late, which the person is not to lose.
        status: of the response.
    """
    return page(
        "seat.html",
        status,
        seat=seat,
        picture=Markup(seat.picture),
        question=seat.question,
        buttons=MAX_BUTTONS,
        kept=kept,
        stale=status != 200,
        home=f"/play/{links.people[person]}",
        others=[other for other in desk.seats(person) if other is not seat],
        version=desk.version,
    )


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise HTTPException(413, f"expected a reply of at most {MAX_BODY} bytes")
    except TimeoutError:
        raise HTTPException(408, f"expected the whole reply within {BODY_SECONDS:g} s") from None
    return bytes(body)
