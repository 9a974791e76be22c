"""A clock that jumps by years while a run is under way changes nothing but the times in its log."""

import asyncio
from contextlib import closing

import pytest

from agents.models.limits import adaptive_limiter, retry
from rating.play import run_directory
from rating.play.runner import Runner
from rating.play.session import Session
from tests.support.calls import logged_calls
from tests.support.clocks import jumping_clock
from tests.support.fault_server import HTTP_503, OK, busy, fault_server

RUN = """
seed = 3
tries = 1
stop = {{ matches = 4, max_matches = 4 }}
[[environment]]
name = "public_goods_v0"
options = {{ rounds = 2 }}
{models}"""
MODEL = """
[[policy]]
name = "model {number}"
spec = "openai:mock-{number}"
options = {{ base_url = "{url}", deadline = 60.0 }}
[[price]]
model = "mock-{number}"
input = 1.0
output = 1.0
"""


def plan(request):
    """Refuses some requests, to cause waits."""
    return {13: busy(0.05), 30: HTTP_503}.get(request.number % 40, OK)


def reply(request):
    return f'{{"reason": "none", "coins": {request.body["model"][-1]}}}'


def play(directory, url, cache):
    models = "".join(MODEL.format(number=number, url=url) for number in range(4))
    session = Session(cache=cache, max_seconds=3600.0, max_cost=1000.0)
    run, store = run_directory.create(directory, RUN.format(models=models), "run.toml")
    with closing(store):
        assert asyncio.run(Runner(run, store, session).run()) == 0
        return store.digest()


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.02)
    monkeypatch.setattr(adaptive_limiter, "FIRST_COOL_DOWN", 0.02)


@pytest.mark.slow
def test_run_with_changing_wall_clock_ends_the_same(tmp_path):
    with fault_server(plan, reply=reply) as server:
        digest = play(tmp_path / "steady", server.url, None)
        with jumping_clock():
            assert play(tmp_path / "jumping", server.url, tmp_path / "cache") == digest
            asked = len(server.log)
            assert play(tmp_path / "cached", server.url, tmp_path / "cache") == digest
    assert len(server.log) - asked == 4  # whether the models are there
    logged = logged_calls(tmp_path / "jumping")
    years = {entry.time.year for entry in logged}
    assert max(years) - min(years) > 30
    assert all(0 <= seconds < 60 for entry in logged for seconds in (entry.call.latency, entry.call.waited))
