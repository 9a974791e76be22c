"""Settings of the tests of rows."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat

import pytest

from benchmarks.experiments.row import RowOptions
from tests.support.hostile_server import hostile_server, say


@pytest.fixture(scope="module", autouse=True)
def in_this_process() -> Iterator[None]:
    """Plays the matches of rows in this process: starting workers takes longer than the few matches of a test."""
    session = RowOptions.session
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RowOptions, "session", lambda options: replace(session(options), executor="asyncio"))
        yield


@pytest.fixture(scope="module")
def babbler() -> Iterator[str]:
    """The spec of a model that never makes a move."""
    with pytest.MonkeyPatch.context() as patch, hostile_server(then=repeat(say("the the the"))) as server:
        patch.setenv("OPENAI_API_KEY", "of nobody")
        yield f"openai:mock:base_url={server.url}"
