"""The log of calls: nothing is lost, and damaged calls are named and do no harm."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agents.models.calls import Call, CallStatus
from rating.errors import RunError
from rating.store.call_log import MAX_DAMAGED
from rating.store.calls import LoggedCall, dump_call
from rating.store.location import create_file, open_file

LOGGED = LoggedCall(
    datetime(2026, 6, 1, 12, 0, 0, 123000, tzinfo=UTC),
    "tictactoe_v0",
    "0123456789abcdef",
    "a model",
    Call("gpt-x", "http://here/v1", "player_0", 2, CallStatus.OK, 200, "req-1", 0.25, 1.5, 11, None, 0, 3, "é\n\ud800"),
)


@pytest.fixture
def store(tmp_path):
    with closing(create_file(tmp_path / "run.db")) as store:
        yield store


def insert(store, *lines):
    """Inserts lines as ended calls, as a damaged database holds them."""
    with closing(sqlite3.connect(store.name)) as db, db:
        for line in lines:
            db.execute("INSERT INTO call (number, line) VALUES ((SELECT max(number) + 1 FROM call), ?)", (line,))


def test_written_calls_are_read_again(store, tmp_path):
    failed = replace(LOGGED, call=Call("gpt-x", "", "player_1", 1, CallStatus.TIMEOUT, error="x" * 10_000))
    assert list(store.calls()) == []
    log = store.call_log()
    log.write(LOGGED)
    log.write(failed)
    expected = [LOGGED, replace(failed, call=replace(failed.call, error="x" * 300))]
    assert list(store.calls()) == expected
    with closing(open_file(tmp_path / "run.db", read_only=True)) as reader:
        assert list(reader.calls()) == expected


@pytest.mark.parametrize(
    "change",
    [
        {"prompt_tokens": -1},
        {"completion_tokens": 1e9},
        {"latency": float("nan")},
        {"attempt": None},
        {"status": "splendid"},
        {"model": 7},
        {"policy": None},
        {"time": "2026-06-01T12:00:00"},
        {"time": "0001-01-01T00:00:00+23:59"},
        {"latency": 10**400},
        {"headers": "secret"},
    ],
)
def test_damaged_calls_are_left_out_and_named(store, change):
    log = store.call_log()
    log.write(LOGGED)
    damaged = json.dumps(json.loads(dump_call(LOGGED)) | change)
    insert(store, damaged, "[]", "7" * 5000, "[" * 12_000, "y" * 40_000, "")
    log.write(LOGGED)
    read = store.calls()
    assert list(read) == [LOGGED] * 2
    assert [line.split(":")[0] for line in read.damage] == [f"call {number}" for number in range(2, 8)]


def test_damaged_log_is_refused(store):
    store.call_log().write(LOGGED)
    insert(store, *["{}"] * 1000)
    with pytest.raises(RunError, match=f"expected a log of calls, but call {MAX_DAMAGED + 2}"):
        list(store.calls())


def test_a_growing_log_is_read_on(store):
    log, read = store.call_log(), store.calls()
    assert list(read.further()) == []
    log.begin(LOGGED)
    assert list(read.further()) == []
    log.write(LOGGED)
    assert list(read.further()) == [LOGGED] and list(read.further()) == []
    log.write(LOGGED)
    again = store.calls()
    again.go_on_from(read)
    assert list(again.further()) == [LOGGED]
    assert list(read) == [LOGGED] * 2


def test_calls_in_flight_at_a_kill_are_lost_once(place):
    others = replace(LOGGED, policy="another")
    with closing(place.create()) as store:
        log, shown = store.call_log(), store.calls()
        for logged in (LOGGED, LOGGED, LOGGED, others):
            log.begin(logged)
        log.write(LOGGED)
        log.write(replace(others, match="out of the cache"))
        assert len(list(shown)) == 2
        for _ in range(2):
            store.call_log()
        lost = list(shown.further())
    assert sorted(logged.policy for logged in lost) == ["a model", "a model", "another"]
    for logged in lost:
        assert (logged.call.status, logged.call.prompt_tokens, logged.call.completion_tokens) == (
            CallStatus.LOST,
            None,
            None,
        )
