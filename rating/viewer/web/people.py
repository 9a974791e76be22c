"""Pages for human players: the prompt as a model reads it, a picture, and a reply form."""

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from urllib.parse import parse_qs

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from agents.human_queue import HumanQueue, Seat, StaleAnswer
from agents.seat_names import result_in_words, seat_name, seating
from llmarena_envs.catalogue import load_environment
from llmarena_envs.core.replies import MAX_THOUGHT
from rating.viewer.web.links import Links
from rating.viewer.web.pages import events, page

MAX_BODY = 12 * MAX_THOUGHT
"""Maximum bytes of a submitted reply: the longest valid reply with every character escaped."""

MAX_BUTTONS = 60
"""Maximum number of legal moves shown as buttons; above it, a list is shown."""

_MAX_BUTTONS_BESIDE_PARTS = 12
"""The same beside the fields for the parts of a reply."""

MAX_LISTED = 5_000
"""Maximum number of legal moves in the list; above it, moves are typed."""

_PART = "part."
"""Prefix of the names of fields for parts of a reply."""

_MAX_FIELDS = 19
"""Maximum number of fields of a form: more than any game has parts."""

_NEXT_SECONDS = 1.0
"""Seconds a submitted reply waits for its result: pages without scripts show it at once."""


def people_routes(queue: HumanQueue, links: Links) -> list[Route]:
    """Returns the routes of the pages of all people.

    Args:
        queue: human input queue.
        links: secret parts of the addresses.
    """
    pages = _PeoplePages(queue, links)
    return [
        Route("/play/{secret}", pages.matches),
        Route("/play/{secret}/events", pages.listen_to_all),
        Route("/play/{secret}/{match}", pages.show, methods=["GET"]),
        Route("/play/{secret}/{match}", pages.answer, methods=["POST"]),
        Route("/play/{secret}/{match}/events", pages.listen),
        Route("/play/{secret}/{match}/next", pages.choose, methods=["POST"]),
    ]


class _PeoplePages:
    def __init__(self, queue: HumanQueue, links: Links) -> None:
        self._queue = queue
        self._links = links
        self._start = secrets.token_hex(4)  # versions differ between server processes

    async def matches(self, request: Request) -> Response:
        """Lists the matches of a person, or redirects to the only one."""
        person = self._person(request)
        seats = self._queue.seats(person)
        if len(seats) == 1 and not self._queue.ended:
            return RedirectResponse(f"{request.url.path}/{seats[0].match}", 303)
        self._queue.tell(person)
        return page(
            "matches.html",
            person=person,
            seats=[(seat, self._names(seat)) for seat in seats],
            home=request.url.path,
            ended=self._queue.ended,
            version=self._version(person),
        )

    async def show(self, request: Request) -> Response:
        """Shows a seat."""
        person = self._person(request)
        seat = self._queue.find(person, request.path_params["match"])
        if seat is None and self._queue.continues and not self._queue.ended:  # the match before this one
            return RedirectResponse(self._home(person), 303)
        return self._absent(person, request) if seat is None else self._seat(seat)

    async def answer(self, request: Request) -> Response:
        """Takes a reply and shows its result."""
        person = self._person(request)
        form = await _read_form(request)
        reply, question = form.get("reply", ""), form.get("question", "")
        seat = self._queue.find(person, request.path_params["match"])
        if parts := {name.removeprefix(_PART): text for name, text in form.items() if name.startswith(_PART)}:
            reply = seat.join(question, parts) if seat is not None else "\n\n".join(parts.values())
        if seat is None:
            return self._absent(person, request, reply)
        try:
            seat.answer(question, reply)
        except StaleAnswer:
            return self._seat(seat, reply, status=409)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_NEXT_SECONDS):
                await seat.after(question)
        return RedirectResponse(request.url.path, 303)

    async def choose(self, request: Request) -> Response:
        """Starts another match, or stops."""
        person = self._person(request)
        form = await _read_form(request)
        if self._queue.find(person, request.path_params["match"]) is not None:
            self._queue.choose(again=form.get("next") == "again")
        return RedirectResponse(request.url.path.removesuffix("/next"), 303)

    async def listen(self, request: Request) -> Response:
        """Streams the versions of a seat."""
        person, match = self._person(request), request.path_params["match"]
        return self._stream(lambda: self._seat_version(person, match))

    async def listen_to_all(self, request: Request) -> Response:
        """Streams the versions of the list of matches."""
        person = self._person(request)
        return self._stream(lambda: self._version(person))

    def _person(self, request: Request) -> str:
        name = self._links.person(request.path_params["secret"])
        if name is None:
            raise HTTPException(404)
        return name

    def _home(self, person: str) -> str:
        return f"/play/{self._links.people[person]}"

    def _seat(self, seat: Seat, kept: str = "", *, status: int = 200) -> Response:
        """Returns the page of a seat.

        Args:
            seat: the seat.
            kept: late reply, shown again to prevent its loss.
            status: HTTP status.
        """
        self._queue.tell(seat.person)
        others = [other for other in self._queue.seats(seat.person) if other is not seat]
        return page(
            "seat.html",
            status,
            seat=seat,
            **self._names(seat),
            next_seed=self._queue.next_seed,
            picture=Markup(seat.picture),
            question=seat.question,
            buttons=_MAX_BUTTONS_BESIDE_PARTS if seat.question and seat.question.parts else MAX_BUTTONS,
            listed=MAX_LISTED,
            kept=kept,
            stale=status != 200,
            home=self._home(seat.person),
            others=others,
            ended=self._queue.ended,
            version=self._seat_version(seat.person, seat.match),
        )

    def _names(self, seat: Seat) -> dict[str, object]:
        """Returns the seating, the player to move, and the result, with the names of policies and people."""
        declaration = load_environment(seat.environment).declaration
        names = {agent: seat_name(agent, seat.policies, seat.agent) for agent in seat.policies}
        result = ""
        if seat.rewards:
            result = result_in_words(declaration, seat.policies, seat.rewards, seat.agent, undecided=seat.undecided)
        return {
            "seating": seating(declaration, seat.policies, seat.agent),
            "mover": names.get(seat.to_move, ""),
            "result": result,
            "rewards": [(names.get(agent, agent), reward) for agent, reward in seat.rewards.items()],
        }

    def _absent(self, person: str, request: Request, kept: str = "") -> Response:
        """Returns the page of a match that is not running in this process."""
        self._queue.tell(person)
        return page(
            "absent.html",
            409 if kept else 404,
            home=self._home(person),
            here=request.url.path,
            kept=kept,
            ended=self._queue.ended,
            version=self._seat_version(person, request.path_params["match"]),
        )

    def _version(self, person: str) -> str:
        """Returns the version of a person's match list."""
        seats = self._queue.seats(person)
        return f"{self._start}.{len(seats)}.{sum(seat.version for seat in seats)}.{self._queue.ended:d}"

    def _seat_version(self, person: str, match: str) -> str:
        """Returns the version of a seat's page, including the number of other matches that wait for the person."""
        seat = self._queue.find(person, match)
        if seat is None:
            return f"{self._start}.absent.{self._queue.ended:d}"
        seats = self._queue.seats(person)
        asked = sum(other.question is not None for other in seats if other is not seat)
        offer = self._queue.next_seed is not None
        return f"{self._start}.{seat.version}.{len(seats)}.{asked}.{offer:d}{self._queue.ended:d}"

    def _stream(self, version: Callable[[], str]) -> Response:
        async def change_after(known: str) -> str:
            await self._queue.until(lambda: version() != known)
            return version()

        return events(version(), change_after)


async def _read_form(request: Request) -> dict[str, str]:
    """Returns the last value of each field of a submitted form.

    Raises:
        HTTPException: if the form is invalid.
    """
    body = (await _read_body(request)).decode("utf-8", "replace")
    try:
        form = parse_qs(body, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise HTTPException(400, "expected a form with a question and a reply") from None
    return {name: values[-1].replace("\r\n", "\n") for name, values in form.items()}


async def _read_body(request: Request) -> bytes:
    body, length = bytearray(), 0
    try:
        async for chunk in request.stream():
            length += len(chunk)
            if length <= MAX_BODY:  # read and drop the rest: browsers show no response before they have sent everything
                body += chunk
    except ClientDisconnect:
        raise HTTPException(400, "expected a whole reply") from None
    if length > MAX_BODY:
        raise HTTPException(413, f"expected a reply of at most {MAX_BODY:,} bytes, got more")
    return bytes(body)
