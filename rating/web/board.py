"""Pages of a run that somebody watches: leaderboards, matches, and each of them turn by turn."""

from contextlib import closing
from pathlib import Path
from secrets import compare_digest

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rating.running import run_directory
from rating.running.contests import make_leaderboards
from rating.web.links import Links
from rating.web.pages import page


def board_routes(directory: Path, links: Links) -> list[Route]:
    """Returns the routes of the board of a run, which read what is recorded and change nothing.

    Args:
        directory: of the run.
        links: by which who may watch is known.
    """

    def check(request: Request) -> None:
        if not compare_digest(request.path_params["secret"].encode(), links.board.encode()):
            raise HTTPException(404)

    def board(request: Request) -> Response:
        check(request)
        config, store = run_directory.open_run(directory)
        with closing(store):
            outcomes = [*store.outcomes()]
            boards = make_leaderboards(config, outcomes, store.facts()) if outcomes else []
            return page("board.html", title=directory.name, boards=boards, statuses=store.statuses())

    return [Route("/board/{secret}", board)]
