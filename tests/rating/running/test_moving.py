"""A run moves between a file and a server with everything recorded of it; whoever is killed at it has a run that goes on."""

import multiprocessing
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.models.calls import Call, CallStatus
from rating.cli import main
from rating.errors import RunError
from rating.records import sqlite
from rating.records.calls import CALLS, CallLog, LoggedCall
from rating.records.postgres import connection, runs
from rating.records.postgres.address import parse_address
from rating.running import moving, run_directory
from rating.running.moving import move_to_file, move_to_server
from rating.running.places import address_of

RUN = ["--env", "tictactoe_v0", "--policy", "random", "--policy", "greedy", "--max-matches", "6", "--workers", "1"]


def logged(number, status=CallStatus.OK):
    call = Call("gpt-x", "http://here", f"player_{number}", 1, status, waited=0.5, prompt_tokens=number)
    return LoggedCall(datetime(2026, 1, 2, 3, 4, number, tzinfo=UTC), "tictactoe_v0", "m", "a\0\x1a", call)


@pytest.fixture
def directory(tmp_path, capsys):
    """A run that has ended, and a log of calls; one was under way when its process was killed."""
    directory = tmp_path / "Study.1"
    assert main(["run", *RUN, "--out", str(directory)]) == 0
    log = CallLog(directory / CALLS)
    for number in range(3):
        log.write(logged(number))
    log.begin(logged(3))
    log.close()
    capsys.readouterr()
    return directory


def whole(directory):
    """Returns everything recorded of a run."""
    _, store = run_directory.open_run(directory)
    with closing(store):
        return store.facts(), list(store.records()), store.sealed, store.digest(), store.check(), list(store.calls())


def test_a_run_goes_to_a_server_and_back_with_everything_in_it(directory, postgres_url, capsys):
    facts, records, sealed, digest, problems, calls = whole(directory)
    assert len(records) == 6 and sealed and not problems
    assert len(calls) == 3
    moved = facts, records, sealed, digest, problems, [*calls, logged(3).as_lost()]
    assert main(["move", str(directory), "--store", postgres_url]) == 0
    assert capsys.readouterr().out == f"The run goes on in run Study.1 in {postgres_url}; what it was in is kept.\n"
    assert str(address_of(directory)) == f"run Study.1 in {postgres_url}"
    assert whole(directory) == moved
    names = {path.name for path in directory.iterdir()}
    assert names == {"run.toml", "run.lock", "store.json", "run.db.moved", "calls.jsonl.moved"}
    run_file = directory / "run.toml"
    run_file.write_text(run_file.read_text().replace("max_matches = 6", "max_matches = 8"))
    assert main(["resume", str(directory)]) == 0
    longer = whole(directory)
    assert len(longer[1]) == 8
    assert main(["move", str(directory), "--store", "sqlite"]) == 0
    assert whole(directory) == longer
    names |= {"run.db", "calls.jsonl", "store.json.moved"}
    assert {path.name for path in directory.iterdir()} == names - {"store.json"}
    assert main(["replay", str(directory), "--verify"]) == 0
    with pytest.raises(RunError, match="expected a run, but it was moved to a file"):
        runs.open_existing(parse_address(postgres_url).of("Study.1"))
    capsys.readouterr()
    for again in (["move", str(directory)], ["run", *RUN, "--out", str(directory.parent / "new" / "Study.1")]):
        assert main([*again, "--store", postgres_url]) == 2  # what is kept there is neither the run nor overwritten
        assert (
            "what a run was moved from is kept under this one; to name another one: ?run=NAME"
            in capsys.readouterr().err
        )
    assert whole(directory) == longer
    assert main(["move", str(directory), "--store", f"{postgres_url}?run=again"]) == 0
    assert whole(directory) == longer
    with pytest.raises(RunError, match=r"there is none of this name; did you mean 'again'\?"):
        runs.open_existing(parse_address(postgres_url).of("agian"))


def test_calls_of_processes_that_were_killed_are_not_lost_on_the_way_to_a_file(directory, postgres_url):
    assert main(["move", str(directory), "--store", postgres_url]) == 0
    *_, calls = whole(directory)
    _, store = run_directory.open_run(directory)
    with closing(store):
        log = store.call_log()
        for _ in range(2):
            log.begin(logged(4))
    assert main(["move", str(directory), "--store", "sqlite"]) == 0
    *_, moved = whole(directory)
    assert moved == [*calls, *[logged(4).as_lost()] * 2]


STEPS = {
    "the tables": (moving, "copy_run"),
    "the calls": (moving, "enter_calls"),
    "the check": (moving, "check_same"),
    "the naming": (moving, "set_address"),
    "setting aside": (moving, "_set_aside"),
    "the new file": (sqlite, "create"),
    "a renaming": (Path, "rename"),
    "a replacement": (Path, "replace"),
}


def _die_at(step, call, before, move, arguments):
    """Moves a run in a process that is killed at the n-th time that it takes a step."""
    place, name = STEPS[step]
    real, times = getattr(place, name), iter(range(call, -1, -1))

    def deadly(*given, **named):
        is_time = next(times, None) == 0
        if is_time and before:
            os.kill(os.getpid(), 9)
        result = real(*given, **named)
        if is_time:
            os.kill(os.getpid(), 9)
        return result

    setattr(place, name, deadly)
    move(*arguments)
    os._exit(0)


def killed(*arguments):
    """Says whether a process was killed before it came to the end."""
    process = multiprocessing.get_context("forkserver").Process(target=_die_at, args=arguments)
    process.start()
    process.join()
    assert process.exitcode in (0, -9)
    return process.exitcode == -9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("the tables", 0),
        ("the calls", 0),
        ("the check", 0),
        ("the naming", 0),
        ("setting aside", 0),
        ("setting aside", 3),
    ],
)
def test_whoever_is_killed_on_the_way_to_a_server_has_a_run_that_goes_on(step, call, directory, postgres_url):
    recorded, address = whole(directory)[:5], parse_address(postgres_url).of("new")
    for before in (True, False):
        if address_of(directory) is None:
            assert killed(step, call, before, move_to_server, (directory, address))
            assert whole(directory)[:5] == recorded
    if address_of(directory) is None:
        move_to_server(directory, address)
    assert whole(directory)[:5] == recorded
    assert len(whole(directory)[5]) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("the new file", 0),
        ("the tables", 0),
        ("the check", 0),
        ("a replacement", 1),
        ("a replacement", 2),
        ("a renaming", 0),
    ],
)
def test_whoever_is_killed_on_the_way_back_has_a_run_that_goes_on(step, call, directory, postgres_url):
    move_to_server(directory, parse_address(postgres_url).of("new"))
    recorded = whole(directory)
    for before in (True, False):
        if address_of(directory) is not None:
            assert killed(step, call, before, move_to_file, (directory,))
            assert whole(directory) == recorded
    if address_of(directory) is not None:
        move_to_file(directory)
    assert whole(directory) == recorded


@pytest.mark.parametrize("reason", ["damaged", "locked", "taken", "there"])
def test_what_cannot_be_moved_is_left_as_it_is(reason, directory, postgres_url):
    address = parse_address(postgres_url).of("new")
    said = {"damaged": "damaged", "locked": "another process", "taken": "something else.*run=NAME", "there": "already"}[
        reason
    ]
    if reason == "damaged":
        with closing(sqlite3.connect(directory / "run.db")) as db, db:
            db.execute("UPDATE match SET error = 'mine' WHERE number = 2")
    elif reason == "taken":
        runs.create(address).close()
    elif reason == "there":
        move_to_server(directory, address)
    before = whole(directory)
    with closing(connection.Postgres(address)) as other:
        if reason == "locked":
            other.lock()
        with pytest.raises(RunError, match=said):
            move_to_server(directory, address)
    assert whole(directory) == before
    if reason != "there":
        assert address_of(directory) is None


def test_what_is_no_run_is_not_moved(tmp_path, postgres_url):
    for move in (lambda path: move_to_server(path, parse_address(postgres_url).of("new")), move_to_file):
        with pytest.raises(RunError, match="expected the directory of a run"):
            move(tmp_path / "none")
