"""The benchmark of long runs: filled stores are those of a run."""

import asyncio
from contextlib import closing

import pytest

from benchmarks.options import parse
from benchmarks.performance.filling import make_filled
from benchmarks.performance.scale import Options, main
from rating.play import run_directory
from rating.play.runner import Runner
from rating.play.session import Session
from rating.store.engine import Database


def test_a_filled_store_is_that_of_a_run_which_goes_on(tmp_path):
    make_filled(tmp_path / "run", 40, 20)
    run, store = run_directory.open_run(tmp_path / "run")
    with closing(store):
        assert store.check() == []
        assert [match.number for match, outcome in store.matches() if outcome is not None] == list(range(40))
        assert all(record.turns for record in store.records())
    assert run.config.stop.max_matches == 30  # of each of four policies, two a match


def statements_of(directory, filled, more):
    """How many statements a run sends to its store when it goes on, and how many matches it has then."""
    make_filled(directory, filled, more)
    run, store = run_directory.open_run(directory)
    sent = []
    execute = Database.execute
    with pytest.MonkeyPatch.context() as patch, run_directory.held(directory, store):
        patch.setattr(Database, "execute", lambda db, *values: sent.append(values) or execute(db, *values))
        asyncio.run(Runner(run, store, Session(executor="asyncio")).run())
        patch.undo()
        return len(sent), store.counts()[run.config.environment[0].name, "finished"]


@pytest.mark.slow
def test_a_match_of_a_long_run_asks_the_store_no_more_than_one_of_a_short_run(tmp_path):
    begin, length = statements_of(tmp_path / "begin", 120, 0)
    assert length == 120
    short, length = statements_of(tmp_path / "short", 120, 120)
    assert length == 240
    long, length = statements_of(tmp_path / "long", 960, 120)
    assert length == 1080
    batches = (960 - 120) / 60
    assert abs(long - short) <= batches + 60  # one for each batch recorded before; other matches have other turns
    assert short - begin > 400


@pytest.mark.slow
def test_the_smoke_run(capsys):
    costs = main(parse(Options, None, ["--smoke"]))
    assert {(cost.store, cost.matches) for cost in costs} == {("sqlite", 60), ("postgresql", 60)}
    assert all(cost.a_second > 0 and cost.turn > 0 and cost.megabytes > 0 for cost in costs)
    assert "| postgresql | 1 | 60 |" in capsys.readouterr().out
