"""The database of a run: what goes in comes out, and what is no such database is refused untouched."""

import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from agents.records import Attempt, Turn
from llmarena_envs.core.failures import Failure
from rating.errors import RunError
from rating.records.database import SCHEMA_VERSION
from rating.records.match import Match
from rating.records.outcome import BUG, FINISHED, VOID, Outcome, SeatOutcome
from rating.records.record import load_match, load_outcome, load_turn, void_outcome
from rating.records.seal import link
from rating.records.store import Store

MATCH = Match("tictactoe_v0", 0, ("b", "a"), 2**64 - 1, {"random_opening": 2})
TURN = Turn(
    0,
    "player_0",
    "text 中文",
    None,
    (Attempt("\x00 ?", Failure.UNPARSABLE, "no", 5, 7, 0.5, {"k": [1]}),),
    "forfeit",
    {"player_0": -1.0, "player_1": 1.0},
    digest="d",
)
OUTCOME = Outcome(
    "tictactoe_v0",
    0,
    2**64 - 1,
    FINISHED,
    (
        SeatOutcome("b", -1.0, 1, {"unparsable": 1}, "unparsable", 0, 1, 5, 7),
        SeatOutcome("a", 1.0, statistics={"x": 0.5}),
    ),
)


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "run.db", create=True)
    yield opened
    opened.close()


def turn(index):
    return replace(TURN, index=index)


def test_what_goes_in_comes_out(store):
    store.add_match(MATCH)
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)
    assert store.outcome(MATCH) is None
    assert list(store.outcomes()) == []
    assert store.turns(MATCH) == (TURN,)
    store.finish(MATCH, OUTCOME, digest="d")
    assert store.turns(MATCH) == (TURN,)
    assert store.outcome(MATCH) == OUTCOME
    assert list(store.outcomes()) == [OUTCOME]
    (record,) = store.records()
    assert (record.match, record.outcome, record.turns) == (MATCH, OUTCOME, (TURN,))
    assert record.turns[0].attempts[0].seconds == 0.5
    assert (record.digest, record.tries, record.error, record.status) == ("d", 1, "", "finished")


def test_matches_are_counted_by_environment_and_status(store):
    matches = [replace(MATCH, number=number) for number in range(3)]
    for match in matches:
        store.add_match(match)
        store.add_match(match)
    store.finish(matches[0], void_outcome(matches[0], VOID))
    store.finish(matches[1], void_outcome(matches[1], VOID))
    store.finish(matches[1], replace(OUTCOME, number=1))
    counted = {"unfinished": 1, VOID: 1, FINISHED: 1, BUG: 0}
    reopened = Store(store.path)
    for opened in (store, reopened):
        assert {status: opened.count(status, MATCH.environment) for status in counted} == counted
        assert opened.count(FINISHED, "connect_four_v0") == 0
        assert opened.statuses() == {"unfinished": 1, VOID: 1, FINISHED: 1}
    reopened.close()
    store.finish(matches[2], replace(OUTCOME, number=2))
    assert store.statuses() == {VOID: 1, FINISHED: 2}


def test_a_match_that_cannot_be_entered_is_not_counted(store):
    store.add_match(MATCH)
    with pytest.raises(RunError):
        store.add_match(replace(MATCH, seed=0))
    assert store.count("unfinished", MATCH.environment) == 1


def test_a_void_match_goes_on_from_its_last_turn(store):
    store.add_match(MATCH)
    store.add_turn(MATCH, turn(0))
    store.finish(MATCH, void_outcome(MATCH, VOID), error="503")
    store.add_turn(MATCH, turn(1))
    store.close()
    again = Store(store.path)
    assert again.check() == []
    again.add_turn(MATCH, turn(2))
    assert again.turns(MATCH) == (turn(0), turn(1), turn(2))
    again.finish(MATCH, OUTCOME, digest="d")
    (record,) = again.records()
    assert (record.tries, record.error, len(record.turns)) == (2, "", 3)
    again.close()
    sealed = Store(store.path)
    assert sealed.check() == []
    sealed.close()


def test_what_cannot_be_stored_of_a_text_is_replaced(store):
    store.add_match(MATCH)
    store.add_turn(MATCH, replace(TURN, attempts=(Attempt("", detail={"k": "\ud800!"}),)))
    store.finish(MATCH, void_outcome(MATCH, VOID), error="\ud800!")
    (record,) = store.records()
    assert (record.error, record.turns[0].attempts[0].detail) == ("?!", {"k": "?!"})


def test_a_turn_is_entered_once(store):
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)
    with pytest.raises(sqlite3.IntegrityError):
        store.add_turn(MATCH, TURN)
    assert store.turns(MATCH) == (TURN,)


def test_a_write_that_fails_leaves_everything_as_it_was(store, monkeypatch):
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)

    def full(*state):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr("rating.records.seal.of_match", full)
        with pytest.raises(sqlite3.OperationalError):
            store.finish(MATCH, OUTCOME)
    assert store.outcome(MATCH) is None
    store.finish(MATCH, OUTCOME)
    store.close()
    again = Store(store.path)
    assert (again.turns(MATCH), again.check()) == ((TURN,), [])
    again.close()


def test_the_turns_of_a_match_that_has_ended_are_packed(store):
    store.add_match(MATCH)
    for index in range(50):
        store.add_turn(MATCH, replace(turn(index), read="what was read before " * 100))
    store.finish(MATCH, OUTCOME)
    with sqlite3.connect(store.path) as db:
        assert db.execute("SELECT count(*) FROM turn").fetchone() == (0,)
        assert db.execute("SELECT length(turns) FROM transcript").fetchone()[0] < 3000
    db.close()
    assert len(store.turns(MATCH)) == 50


def test_the_dictionary_of_an_environment_is_bounded(store):
    noise = "".join(map(chr, np.random.default_rng(0).integers(0x4E00, 0x9FFF, 50_000)))
    for number in range(2):
        match = replace(MATCH, number=number)
        store.add_match(match)
        store.add_turn(match, replace(TURN, read=noise))
        store.finish(match, replace(OUTCOME, number=number))
        assert store.turns(match) == (replace(TURN, read=noise),)
    with sqlite3.connect(store.path) as db:
        assert db.execute("SELECT max(length(data)), count(*) FROM dictionary").fetchone() <= (32768, 1)
    db.close()


def test_the_seal_covers_wall_times_and_the_digest_does_not(tmp_path):
    seals, digests = set(), set()
    for name, seconds in (("a", 0.5), ("b", 0.5), ("c", 0.6)):
        store = Store(tmp_path / name, create=True)
        store.add_match(MATCH)
        store.add_turn(MATCH, replace(TURN, attempts=(replace(TURN.attempts[0], seconds=seconds),)))
        store.finish(MATCH, OUTCOME, digest="d")
        digests.add(store.digest())
        seals.add(store.seal())
        store.close()
    assert (len(seals), len(digests)) == (2, 1)


def test_the_digest_covers_digests_and_outcomes(tmp_path):
    digests = set()
    lost = replace(OUTCOME, seats=(replace(OUTCOME.seats[0], reward=1.0), OUTCOME.seats[1]))
    for number, (outcome, digest) in enumerate([(OUTCOME, "d"), (OUTCOME, "e"), (lost, "d")]):
        store = Store(tmp_path / str(number), create=True)
        store.add_match(MATCH)
        store.finish(MATCH, outcome, digest=digest)
        digests.add(store.digest())
        store.close()
    assert len(digests) == 3


def test_parts_of_a_seal_are_told_apart():
    assert len({link("", "ab", "c"), link("", "a", "bc"), link("", "abc"), link("ab", "c")}) == 4


def test_a_seal_is_broken_by_a_write_and_by_nothing_else(store):
    store.add_match(MATCH)
    store.set_fact("name", "value")
    store.close()
    again = Store(store.path)
    sealed = again.sealed
    assert len(sealed) == 64
    again.add_match(MATCH)
    again.set_fact("name", "value")
    assert (again.sealed, again.seal()) == (sealed, sealed)
    again.add_turn(MATCH, TURN)
    assert again.sealed == ""
    assert "not sealed" in again.check()[0]
    assert again.seal() != sealed
    assert again.check() == []
    again.close()


@pytest.mark.parametrize("ended", [False, True])
def test_everything_written_survives_a_process_that_is_killed(tmp_path, ended):
    path = tmp_path / "run.db"
    code = (
        "import os, signal, sys; from pathlib import Path; from rating.records.store import Store\n"
        "from tests.rating.records.test_store import MATCH, OUTCOME, TURN\n"
        "store = Store(Path(sys.argv[1]), create=True); store.add_match(MATCH); store.add_turn(MATCH, TURN)\n"
        "if sys.argv[2] == 'True': store.finish(MATCH, OUTCOME)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    process = subprocess.run([sys.executable, "-c", code, str(path), str(ended)], check=False)
    assert process.returncode == -signal.SIGKILL
    store = Store(path)
    assert store.turns(MATCH) == (TURN,)
    assert store.outcome(MATCH) == (OUTCOME if ended else None)
    assert [difference for difference in store.check() if "not sealed" not in difference] == []
    store.close()


@pytest.mark.parametrize("reader", [{}, {"read_only": True}])
@pytest.mark.parametrize(
    "files", ["run.db*", "run.*[!m]"]
)  # with the index of the log, and without, as somebody copies it
def test_what_a_killed_process_left_is_read_where_nothing_may_be_written(store, tmp_path, monkeypatch, files, reader):
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in store.path.parent.glob(files):
        shutil.copy(file, copy)
    before = {file.name for file in copy.iterdir()}
    monkeypatch.setattr("os.access", lambda path, mode: False)
    left = Store(copy / "run.db", **reader)
    assert left.turns(MATCH) == (TURN,)
    assert {file.name for file in copy.iterdir()} == before
    left.close()
    assert {file.name for file in copy.iterdir()} == before


def test_a_reader_does_not_keep_the_run_from_being_played(store):
    for number in range(2):
        store.add_match(replace(MATCH, number=number))
    reader = Store(store.path)
    reading = reader.records()
    next(reading)
    store.add_turn(MATCH, TURN)
    assert len(list(reading)) == 1
    reader.close()


def test_everything_written_is_there_for_other_readers_at_once(store):
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)
    other = Store(store.path)
    assert other.turns(MATCH) == (TURN,)
    other.close()


def test_records_are_found_by_the_beginning_of_their_id(store):
    store.add_match(MATCH)
    assert len(list(store.records(MATCH.id[:4]))) == 1
    assert list(store.records("%")) == []
    assert list(store.records("_" * 16)) == []


def test_everything_written_is_there_without_a_clean_end(store):
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)
    other = Store(store.path)
    assert other.turns(MATCH) == (TURN,)
    other.close()


def test_an_id_names_everything_that_determines_a_match():
    others = [
        Match("connect_four_v0", 0, ("b", "a"), MATCH.seed, MATCH.options),
        Match("tictactoe_v0", 1, ("b", "a"), MATCH.seed, MATCH.options),
        Match("tictactoe_v0", 0, ("a", "b"), MATCH.seed, MATCH.options),
        Match("tictactoe_v0", 0, ("b", "a"), 0, MATCH.options),
        Match("tictactoe_v0", 0, ("b", "a"), MATCH.seed, {}),
    ]
    assert len({match.id for match in [MATCH, *others]}) == 6


def test_a_new_store_overwrites_nothing(store):
    with pytest.raises(RunError, match="there already"):
        Store(store.path, create=True)


def test_a_missing_file_is_not_made(tmp_path):
    with pytest.raises(RunError, match="does not exist"):
        Store(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to be taken for one" * 50])
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "run.db"
    path.write_bytes(content)
    with pytest.raises(RunError):
        Store(path)
    assert path.read_bytes() == content


def test_a_foreign_database_is_refused(tmp_path):
    path = tmp_path / "run.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE match (id)")
    db.close()
    with pytest.raises(RunError, match="not written by llmarena"):
        Store(path)


def test_a_log_from_a_newer_version_is_refused(store):
    with sqlite3.connect(store.path) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    db.close()
    with pytest.raises(RunError, match="newer version"):
        Store(store.path)


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE more (x)", "DROP TABLE transcript", "CREATE TRIGGER t AFTER INSERT ON turn BEGIN SELECT 1; END"],
)
def test_a_database_with_other_tables_is_refused(store, statement):
    with sqlite3.connect(store.path) as db:
        db.execute(statement)
    db.close()
    with pytest.raises(RunError, match="not as they were made"):
        Store(store.path)


def test_a_damaged_database_is_refused(store):
    for number in range(300):
        store.add_match(Match("tictactoe_v0", number, ("a", "b"), number))
    store.close()
    data = bytearray(store.path.read_bytes())
    data[4096 * 3 : 4096 * 6] = b"\xff" * (4096 * 3)
    store.path.write_bytes(bytes(data))
    with pytest.raises(RunError):
        list(Store(store.path).records())


@pytest.mark.parametrize(
    ("load", "text"),
    [
        (load_turn, "{"),
        (load_turn, "[]"),
        (load_turn, '{"attempts": [{"reply": 1, "kind": 99}]}'),
        (load_turn, '{"attempts": []}'),
        (load_turn, "[" * 100_000),
        (lambda seats: load_outcome("e_v0", 0, "1", FINISHED, seats), '{"seats": 3}'),
        (lambda seats: load_outcome("e_v0", 0, "1", FINISHED, seats), "null"),
        (lambda status: load_outcome("e_v0", 0, "1", status, "[]"), "won"),
        (lambda seed: load_outcome("e_v0", 0, seed, FINISHED, "[]"), "one"),
        (lambda policies: load_match("e_v0", 0, policies, "1", "{}"), "3"),
    ],
)
def test_a_damaged_record_is_refused(load, text):
    with pytest.raises(RunError, match="damaged"):
        load(text)


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: data + b"x", lambda data: b"", lambda data: b"x" + data]
)
def test_damaged_turns_are_refused(store, damage):
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)
    store.finish(MATCH, OUTCOME)
    with sqlite3.connect(store.path) as db:
        (data,) = db.execute("SELECT turns FROM transcript").fetchone()
        db.execute("UPDATE transcript SET turns = ?", (damage(data),))
    db.close()
    with pytest.raises(RunError, match="damaged"):
        store.turns(MATCH)


def test_another_match_of_the_same_number_is_refused(store):
    store.add_match(MATCH)
    with pytest.raises(RunError, match="match 0 of tictactoe_v0 was recorded with another seed"):
        store.add_match(Match("tictactoe_v0", 0, ("b", "a"), 0, MATCH.options))
    assert [record.match for record in store.records()] == [MATCH]


@pytest.mark.parametrize("what", ["folder and file", "file", "folder"])
def test_a_run_can_be_read_where_nothing_may_be_written(store, monkeypatch, what):
    store.add_match(MATCH)
    store.close()
    refused = {store.path.parent: "folder" in what, store.path: "file" in what}
    monkeypatch.setattr("os.access", lambda path, mode: not refused[path])
    archive = Store(store.path)
    assert [record.match for record in archive.records()] == [MATCH]
    assert archive.check() == []
    assert [path.name for path in store.path.parent.iterdir()] == ["run.db"]
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        archive.add_turn(MATCH, TURN)
    archive.close()
