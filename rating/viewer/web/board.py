"""The board: the page of the report, served while the run is played, and its matches."""

import json
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import compare_digest
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from rating.blame.drawing import curve
from rating.blame.results import DIRECTORY, read_results
from rating.errors import RunError
from rating.schemes.leaderboard import ALWAYS
from rating.schemes.stopping import PAUSED
from rating.store.records import VOID, Record
from rating.store.replay import PromptReader, tell
from rating.store.state import RunState
from rating.viewer.report.contents import EMPTY
from rating.viewer.report.match_index import MatchIndex, replies_at
from rating.viewer.report.page import MATCH_SCRIPTS, SCRIPTS, STYLES, page_values, render
from rating.viewer.report.replays import index_text, match_content
from rating.viewer.report.sections import Section, Tab
from rating.viewer.report.tables import Sheet
from rating.viewer.web.links import Links
from rating.viewer.web.live import Live, View, explain, twice
from rating.viewer.web.pages import events
from rating.viewer.web.positions import Positions
from rating.viewer.web.shared import Shared
from rating.viewer.web.watched import STATUSES, UNDER_WAY, WAITING, Moment, Watched

_SCRIPTS = ("basics.js", "live.js", *SCRIPTS[1:], "served.js", *MATCH_SCRIPTS)

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
        "": board.page,
        "/events": board.listen,
        "/index": board.index,
        "/match/{match}": board.match,
        "/match/{match}/{turn:int}": board.position,
    }
    return [Route(f"/board/{{secret}}{path}", guarded(found), methods=["GET"]) for path, found in endpoints.items()]


class _Board:
    """The page of a run and the data of its matches."""

    def __init__(self, directory: Path) -> None:
        self._watched = Watched(directory)
        self._live = Live(self._watched)
        self._positions = Positions()
        self._shared: Shared[Response] = Shared()

    async def page(self, request: Request) -> Response:
        """Shows the page of the report with the state of the run."""
        view, home = await self._live.view(), f"/board/{request.path_params['secret']}"
        return await self._shared.get(("page", view.version, home), lambda: self._page(view, home))

    async def listen(self, request: Request) -> Response:
        """Streams the versions of the page and the index."""
        return events((await self._live.view()).version, self._live.changed)

    async def index(self, request: Request) -> Response:
        """Returns the index of the matches."""
        view = await self._live.view()
        return await self._shared.get(("index", view.version), lambda: _json(_index(view)))

    async def match(self, request: Request) -> Response:
        """Returns a match, turn by turn."""
        moment, _ = await self._live.moment()
        name = request.path_params["match"]
        key = "match", name, moment.signature
        return await self._answer(lambda: self._shared.get(key, partial(self._match, moment, name)))

    async def position(self, request: Request) -> Response:
        """Returns the picture of a match after a turn."""
        name, turn = request.path_params["match"], request.path_params["turn"]
        return await self._answer(lambda: run_in_threadpool(self._position, name, turn))

    async def _answer(self, make: Callable[[], Awaitable[Response]]) -> Response:
        try:
            return await make()
        except HTTPException:
            raise
        except Exception as error:  # damaged or missing record; the others can still be read
            return PlainTextResponse(explain(error), 503)

    def _page(self, view: View, home: str) -> Response:
        contents = view.tables.contents
        progress = [Section(_progress(view), Tab.PROGRESS)] if view.moment.entries else []
        shown = replace(contents, title=self._watched.title, sections=[*contents.sections, *progress])
        html = render(
            "board.html",
            **page_values(shown, has_matches=True),
            home=home,
            version=view.version,
            styles=STYLES,
            scripts=_SCRIPTS,
            state=_state(view),
            written=view.moment.written if view.moment.entries else None,
            trouble=view.trouble,
            is_live=bool(view.trouble) or not view.moment.sealed,
        )
        return HTMLResponse(html, 503 if view.trouble and contents is EMPTY else 200)

    def _match(self, moment: Moment, name: str) -> Response:
        record = self._record(name)
        settings = {record.match.environment: self._watched.turn_settings(record.match.environment)}
        prompts = PromptReader(settings).read(record)
        rules = _rules(record, moment.state)
        results = read_results(self._watched.directory / DIRECTORY, record.match.id).get(record.match.id, [])
        shown = {"drawn": True, "curves": [curve(result) for result in results]}
        return _json(json.dumps({**match_content(record, tell(record), prompts, rules), **shown}))

    def _position(self, name: str, turn: int) -> Response:
        record = self._record(name)
        if turn > len(record.turns):
            raise HTTPException(404)
        return _json(json.dumps(self._positions.draw(record, turn)._asdict()))

    def _record(self, name: str) -> Record:
        record = twice(lambda: self._watched.record(name))
        if record is None:
            raise HTTPException(404)
        return record


def _json(text: str) -> Response:
    """Returns a compressed response."""
    packed = zlib.compress(text.encode("utf-8", "replace"), 1)
    return Response(packed, media_type="application/json", headers={"content-encoding": "deflate"})


def _index(view: View) -> str:
    index, found = MatchIndex(), view.tables.contents.match_costs
    for entry in view.moment.entries.values():
        glance = entry.glance
        cost = found.get(entry.id, "")
        index.add(glance, replies_at(glance), entry.id, entry.status, turns=entry.turns, cost=cost)
    return index_text(index, view.moment.state.all_rules())


def _rules(record: Record, state: RunState) -> Mapping[str, Any]:
    """Returns the rules text of each agent, or an empty mapping if it was not recorded."""
    try:
        return state.rules(record.match.environment)
    except RunError:
        return {}


def _state(view: View) -> str:
    """Returns whether a run is running, stopped, paused or complete, as a sentence."""
    moment = view.moment
    if not moment.entries:
        return "" if view.trouble else "No match has been entered yet; this page shows it when one is."
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
    return Sheet("Progress", header, rows, [], [ALWAYS] * len(header), texts=2)


def _expected(expected: Mapping[str, int | None], environment: str) -> str:
    count = expected.get(environment)
    return "until a rule stops it" if count is None else str(count)
