"""A match late in a run asks the store no more than an early one."""

import asyncio

import pytest

from rating.play import run_directory
from rating.play.runner import Runner
from rating.play.session import Session
from rating.store.engine import Database
from rating.store.store import Store

MATCHES = 540
BATCH = 60
RUN_FILE = f"""seed = 1
schedule = "round_robin"

[stop]
rule = "trueskill"
min_matches = {MATCHES // 2}
max_matches = {MATCHES // 2}

[[environment]]
name = "tictactoe_v0"

[[policy]]
spec = "random"

[[policy]]
spec = "first_legal"

[[policy]]
spec = "greedy"

[[policy]]
spec = "minimax"
"""


def play(directory, monkeypatch):
    """Plays a run to its end; returns the number of statements before each finished match, and in all."""
    sent, finished = [], []
    execute, finish = Database.execute, Store.finish
    run, store = run_directory.open_run(directory)
    with monkeypatch.context() as patch, run_directory.held(directory, store):
        patch.setattr(Database, "execute", lambda db, *values: sent.append(1) or execute(db, *values))
        patch.setattr(Store, "finish", lambda *values, **named: finished.append(len(sent)) or finish(*values, **named))
        asyncio.run(Runner(run, store, Session(executor="asyncio", quiet=True)).run())
    return finished, len(sent)


@pytest.mark.slow
def test_run_statements_per_match_do_not_grow(tmp_path, monkeypatch):
    _, store = run_directory.create(tmp_path / "run", RUN_FILE, "the run file of the test")
    store.close()
    finished, _ = play(tmp_path / "run", monkeypatch)
    assert len(finished) >= MATCHES
    half = len(finished) // 2
    early, late = finished[half] - finished[0], finished[-1] - finished[half]
    assert early > 2 * half
    assert late < 1.4 * early  # which turns are written together depends on the clock
    again, statements = play(tmp_path / "run", monkeypatch)
    assert not again
    assert statements <= MATCHES / BATCH + 60  # a resumed run asks for the recorded matches by the batch
