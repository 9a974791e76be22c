"""The log of calls: nothing is lost, and a damaged or hostile file is told of and does no harm."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agents.models.calls import Call, CallStatus
from rating.errors import RunError
from rating.records.calls import (
    MAX_DAMAGED,
    UNDER_WAY,
    CallFile,
    CallLog,
    LoggedCall,
    LoggedCalls,
    dump_call,
    load_call,
)

LOGGED = LoggedCall(
    datetime(2026, 6, 1, 12, 0, 0, 123000, tzinfo=UTC),
    "tictactoe_v0",
    "0123456789abcdef",
    "a model",
    Call("gpt-x", "http://here/v1", "player_0", 2, CallStatus.OK, 200, "req-1", 0.25, 1.5, 11, None, 0, 3, "é\n\ud800"),
)


def write(path, *calls):
    log = CallLog(path)
    for call in calls:
        log.write(call)
    log.close()


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / "calls.jsonl"
    failed = replace(LOGGED, call=Call("gpt-x", "", "player_1", 1, CallStatus.TIMEOUT, error="x" * 10_000))
    write(path, LOGGED)
    write(path, failed)
    read = list(LoggedCalls(path))
    assert read == [LOGGED, replace(failed, call=replace(failed.call, error="x" * 300))]
    assert list(LoggedCalls(tmp_path / "none")) == []
    assert "completion_tokens" not in json.loads(path.read_text().splitlines()[1])


@pytest.mark.parametrize("torn", [b'{"time":', b"x" * 50_000])
def test_a_torn_last_line_is_ignored_and_spoils_no_other(tmp_path, torn):
    path = tmp_path / "calls.jsonl"
    write(path, LOGGED)
    with path.open("ab") as file:
        file.write(torn)
    read = LoggedCalls(path)
    assert list(read) == [LOGGED]
    assert read.damage == []
    write(path, LOGGED)
    assert list(LoggedCalls(path)) == [LOGGED] * 2


@pytest.mark.parametrize(
    "change",
    [
        {"prompt_tokens": -1},
        {"prompt_tokens": True},
        {"completion_tokens": 1e9},
        {"latency": float("nan")},
        {"attempt": None},
        {"status": "splendid"},
        {"model": 7},
        {"policy": None},
        {"time": "2026-06-01T12:00:00"},
        {"time": "yesterday"},
        {"headers": "secret"},
    ],
)
def test_a_line_that_holds_something_else_is_left_out_and_named(tmp_path, change):
    path = tmp_path / "calls.jsonl"
    write(path, LOGGED)
    table = json.loads(path.read_text()) | change
    lines = [json.dumps(table), "[]", "7" * 5000, "[" * 12_000, "y" * 40_000, "\x00"]
    path.write_text("\n".join(lines) + "\n")
    write(path, LOGGED)
    read = LoggedCalls(path)
    assert list(read) == [LOGGED]
    assert [line.split(":")[0] for line in read.damage] == [f"line {number}" for number in range(1, 7)]


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "calls.jsonl"
    path.write_text("{}\n" * 1000)
    with pytest.raises(RunError, match=f"line {MAX_DAMAGED + 1}: expected a log of calls"):
        list(LoggedCalls(path))


def test_a_log_that_grows_is_read_on(tmp_path):
    path = tmp_path / "calls.jsonl"
    log, read = CallLog(path), LoggedCalls(path)
    assert list(read.further()) == []
    log.write(LOGGED)
    log.close()
    assert list(read.further()) == [LOGGED] and list(read.further()) == []
    with path.open("ab") as file:
        file.write(b"no call\n" + b'{"time": torn')
    assert list(read.further()) == [] and [line[:7] for line in read.damage] == ["line 2:"]
    again = CallLog(path)  # as when the run is resumed
    again.write(LOGGED)
    again.close()
    assert list(read.further()) == [LOGGED] and len(read.damage) == 1 and read.place == path.stat().st_size
    assert list(read) == [LOGGED] * 2


def test_calls_that_were_under_way_when_a_run_was_killed_are_lost_and_of_unknown_usage(tmp_path):
    path = tmp_path / "calls.jsonl"
    log, others = CallLog(path), replace(LOGGED, policy="another")
    for _ in range(3):
        log.begin(LOGGED)
    log.begin(others)
    log.write(LOGGED)
    log.write(replace(others, match="out of the cache"))
    log.close()
    with (tmp_path / UNDER_WAY).open("ab") as file:
        file.write(b'5 {"time": "torn')
    again = CallFile(path).writer()
    read = list(LoggedCalls(path))
    assert [logged.call.status for logged in read[2:]] == [CallStatus.LOST] * 3
    assert [logged.policy for logged in read[2:]] == ["a model", "a model", "another"]
    assert {(logged.call.prompt_tokens, logged.call.completion_tokens) for logged in read[2:]} == {(None, None)}
    again.close()
    CallFile(path).writer().close()
    assert len(list(LoggedCalls(path))) == 5  # once is enough


def test_the_file_of_calls_that_have_begun_stays_small(tmp_path, monkeypatch):
    monkeypatch.setattr("rating.records.calls._MOST_LINES", 10)
    path = tmp_path / "calls.jsonl"
    log = CallLog(path)
    log.begin(replace(LOGGED, match="never ends"))
    for _ in range(50):
        log.begin(LOGGED)
        log.write(LOGGED)
    log.close()
    assert len((tmp_path / UNDER_WAY).read_bytes().splitlines()) <= 11
    CallFile(path).writer().close()
    assert [logged.match for logged in LoggedCalls(path)][50:] == ["never ends"]
    assert not (tmp_path / UNDER_WAY).exists()


@pytest.mark.parametrize(("name", "value"), [("latency", 10**400), ("time", "0001-01-01T00:00:00+23:59")])
def test_a_number_or_a_time_out_of_range_is_no_call(name, value):
    line = json.dumps({**json.loads(dump_call(LOGGED)), name: value})
    with pytest.raises(ValueError, match=r"too large|out of range"):
        load_call(line)
