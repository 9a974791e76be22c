"""The board: read-only pages of a run with leaderboards, the match list and each match turn by turn."""

import zlib
from collections.abc import Awaitable, Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from secrets import compare_digest
from typing import Any

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from agents.records import encodable
from llmarena_envs.core.terminal import printable
from rating.schemes.leaderboard import ALWAYS
from rating.schemes.stopping import PAUSED
from rating.store.records import BUG, VOID
from rating.viewer.report.tables import Sheet
from rating.viewer.web.links import Links
from rating.viewer.web.listing import RESULTS, Choice, choose, describe
from rating.viewer.web.live import Live, View, explain, twice
from rating.viewer.web.pages import events, page
from rating.viewer.web.positions import Positions
from rating.viewer.web.shared import Shared
from rating.viewer.web.transcript import error_passage, list_turns, rules_of, seats_of, show_turn, whole_text
from rating.viewer.web.watched import STATUSES, UNDER_WAY, WAITING, Entry, Moment, Watched

_SHOWN_UNDER_WAY = 50
"""Maximum number of running matches in the overview."""

_SHOWN_FAILED = 20
"""Maximum number of void matches and bugs in the overview, latest first."""

_Endpoint = Callable[[Request], Awaitable[Response]]


def board_routes(directory: Path, links: Links) -> list[Route]:
    """Returns the routes of the board of a run.

    Args:
        directory: run directory.
        links: secret parts of the addresses.
    """
    board = _Board(directory)

    def guarded(endpoint: _Endpoint) -> _Endpoint:
        async def checked(request: Request) -> Response:
            if not compare_digest(request.path_params["secret"].encode(), links.board.encode()):
                raise HTTPException(404)
            return await endpoint(request)

        return checked

    endpoints: dict[str, _Endpoint] = {
        "": board.overview,
        "/events": board.listen,
        "/matches": board.matches,
        "/match/{match}": board.match,
        "/match/{match}/events": board.listen_to_match,
        "/match/{match}/{turn:int}": board.match,
        "/match/{match}/{turn:int}/{part}": board.text,
    }
    return [Route(f"/board/{{secret}}{path}", guarded(found), methods=["GET"]) for path, found in endpoints.items()]


class _Board:
    """The pages of the board."""

    def __init__(self, directory: Path) -> None:
        self._title = encodable(printable(directory.resolve().name))
        self._watched = Watched(directory)
        self._live = Live(self._watched)
        self._positions = Positions()
        self._shared: Shared[Response] = Shared()

    async def overview(self, request: Request) -> Response:
        """Shows ratings, progress, running matches, failures and costs."""
        view = await self._live.view()
        return await self._answer(request, view.moment, lambda home: self._overview(view, home), view.version)

    async def listen(self, request: Request) -> Response:
        """Streams the versions of the overview and the match list."""
        return events((await self._live.view()).version, self._live.changed)

    async def matches(self, request: Request) -> Response:
        """Shows the match list."""
        view = await self._live.view()
        choice = Choice.read(request.query_params)
        same = view.version, choice
        return await self._answer(request, view.moment, lambda home: self._matches(view, choice, home), same)

    async def match(self, request: Request) -> Response:
        """Shows a match after a turn, by default the last one."""
        moment, trouble = await self._live.moment()
        name, turn = request.path_params["match"], request.path_params.get("turn")
        return await self._answer(request, moment, lambda home: self._match(moment, trouble, name, turn, home))

    async def listen_to_match(self, request: Request) -> Response:
        """Streams the versions of a match."""
        version_of = partial(_match_version, request.path_params["match"])
        return events(version_of(*await self._live.moment()), partial(self._live.match_changed, version_of))

    async def text(self, request: Request) -> Response:
        """Shows the full text of a passage as plain text."""
        moment, _ = await self._live.moment()
        path = request.path_params
        return await self._answer(
            request, moment, lambda home: self._text(moment, path["match"], path["turn"], path["part"])
        )

    async def _answer(
        self, request: Request, moment: Moment, make: Callable[[str], Response], same: Hashable = None
    ) -> Response:
        """Makes a response in a thread.

        Args:
            request: the request.
            moment: recorded state.
            make: makes the response from the address of the board.
            same: cache key, shared by requests with the same response; ``None`` for no caching.
        """
        home = f"/board/{request.path_params['secret']}"
        try:
            if same is None:
                return await run_in_threadpool(make, home)
            return await self._shared.get(same, partial(make, home))
        except HTTPException:
            raise
        except Exception as error:  # damaged or missing record; other pages still work
            return self._page("board_trouble.html", home, explain(error), moment, version="")

    def _overview(self, view: View, home: str) -> Response:
        entries = view.moment.entries.values()
        under_way = [entry for entry in entries if entry.status == UNDER_WAY]
        failed = [entry for entry in entries if entry.status in (VOID, BUG)]
        values: dict[str, Any] = {
            "progress": _progress(view) if entries else None,
            "state": _state(view),
            "tables": view.tables,
            "plots": [[Markup(plot) for plot in ratings.plots] for ratings in view.tables.ratings],
            "under_way": under_way[:_SHOWN_UNDER_WAY],
            "more_under_way": max(0, len(under_way) - _SHOWN_UNDER_WAY),
            "failed": failed[: -_SHOWN_FAILED - 1 : -1],
            "more_failed": max(0, len(failed) - _SHOWN_FAILED),
        }
        return self._page("board.html", home, view.trouble, view.moment, version=view.version, **values)

    def _matches(self, view: View, choice: Choice, home: str) -> Response:
        return self._page(
            "board_matches.html",
            home,
            view.trouble,
            view.moment,
            version=view.version,
            listing=choose(view.moment, choice),
            choice=choice,
            results=RESULTS,
            costs=view.tables.match_costs,
        )

    def _match(self, moment: Moment, trouble: str, name: str, turn: int | None, home: str) -> Response:
        record = twice(lambda: self._watched.record(name))
        if record is None or (turn or 0) > len(record.turns):
            raise HTTPException(404)
        shown = len(record.turns) if turn is None else turn
        seats = seats_of(record, moment.state)
        rules = rules_of(record, moment.state)
        picture = self._positions.draw(record, shown)
        before, after = _neighbours(moment, moment.entries.get(name))
        return self._page(
            "board_match.html",
            home,
            "",
            moment,
            version=_match_version(name, moment, trouble),
            refreshes=record.outcome is None,
            cost=self._live.match_costs.get(name, ""),
            record=record,
            is_over=record.outcome is not None,
            follows=turn is None,
            number=shown,
            seats=seats,
            outcome=record.outcome,
            error=error_passage(record),
            picture=Markup(picture.svg),
            missing=picture.missing,
            turn=show_turn(record.turns[shown - 1], seats, rules) if shown else None,
            lines=list_turns(record, seats, shown),
            before=before,
            after=after,
        )

    def _text(self, moment: Moment, name: str, turn: int, part: str) -> Response:
        record = twice(lambda: self._watched.record(name))
        text = None if record is None else whole_text(record, moment.state, turn, part)
        if text is None:
            raise HTTPException(404)
        return PlainTextResponse(printable(text).encode("utf-8", "replace"))

    def _page(self, template: str, home: str, trouble: str, moment: Moment, **values: Any) -> Response:
        given = {"title": self._title, "home": home, "trouble": trouble, "describe": describe}
        given["refreshes"] = bool(trouble) or not moment.sealed
        return page(template, 503 if trouble else 200, **{**given, "moment": moment, **values})


def _match_version(name: str, moment: Moment, trouble: str) -> str:
    """Returns a checksum of the state of a match."""
    entry = moment.entries.get(name)
    state = (entry.status, entry.turns, entry.glance.error) if entry else ()
    return f"{zlib.crc32(repr((state, trouble)).encode('utf-8', 'replace')):08x}"


def _neighbours(moment: Moment, entry: Entry | None) -> tuple[Entry | None, Entry | None]:
    """Returns the previous and the next match in the list of all matches."""
    if entry is None:
        return None, None
    entries = [*moment.entries.values()]
    place = next(place for place, other in enumerate(entries) if other.id == entry.id)
    return (entries[place - 1] if place else None), (entries[place + 1] if place + 1 < len(entries) else None)


def _state(view: View) -> str:
    """Returns whether a run is running, stopped, paused or complete, as a sentence."""
    moment = view.moment
    if not moment.entries:
        return ""
    statuses = {entry.status for entry in moment.entries.values()}
    if not moment.sealed:
        return "Running, or killed."
    if statuses & {UNDER_WAY, WAITING, VOID}:
        return "Stopped. Continue with llmarena resume."
    if PAUSED in moment.state.stop_reasons().values():
        return "A game is paused. Continue with llmarena resume --keep-going."
    return "Finished."


def _progress(view: View) -> Sheet:
    """Returns the number of matches by status for each environment."""
    counts: dict[str, dict[str, int]] = {}
    reasons = view.moment.state.stop_reasons()
    for entry in view.moment.entries.values():
        own = counts.setdefault(entry.glance.match.environment, dict.fromkeys(STATUSES, 0))
        own[entry.status] += 1
    rows = [
        [
            name,
            reasons.get(name, ""),
            *(str(own[status]) for status in STATUSES),
            str(sum(own.values())),
            _expected(view.tables.expected, name),
        ]
        for name, own in counts.items()
    ]
    header = ["environment", "stopped", *STATUSES, "scheduled", "expected"]
    return Sheet("Matches", header, rows, [], [ALWAYS] * len(header), texts=2)


def _expected(expected: Mapping[str, int | None], environment: str) -> str:
    count = expected.get(environment)
    return "until a rule stops it" if count is None else str(count)
