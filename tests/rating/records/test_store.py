"""The database of a run: what goes in comes out, and what is no such database is refused untouched."""

import sqlite3

import pytest

from agents.records import Attempt, Turn
from llmarena_envs.core.failures import Failure
from rating.errors import RunError
from rating.records.match import Match
from rating.records.outcome import FINISHED, Outcome, SeatOutcome
from rating.records.record import load_outcome, load_turn
from rating.records.store import SCHEMA_VERSION, Store

MATCH = Match("tictactoe_v0", 3, ("b", "a"), 2**64 - 1, {"random_opening": 2})
TURN = Turn(
    0,
    "player_0",
    "text 中文",
    None,
    (Attempt("\x00 ?", Failure.UNPARSABLE, "no", 5, 7, 0.5, {"k": [1]}),),
    "forfeit",
    "d",
)
OUTCOME = Outcome(
    "tictactoe_v0",
    3,
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


def test_what_goes_in_comes_out(store):
    store.add_match(MATCH)
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)
    assert store.outcome(MATCH) is None
    assert store.turns(MATCH) == (TURN,)
    store.finish(MATCH, OUTCOME, digest="d")
    assert store.outcomes() == [OUTCOME]
    (record,) = store.records()
    assert (record.match, record.outcome, record.turns) == (MATCH, OUTCOME, (TURN,))
    assert (record.digest, record.tries, record.error, record.status) == ("d", 1, "", "finished")
    assert store.count(FINISHED, "tictactoe_v0") == 1
    assert store.count(FINISHED, "connect_four_v0") == 0


def test_a_turn_is_entered_once(store):
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)
    with pytest.raises(sqlite3.IntegrityError):
        store.add_turn(MATCH, TURN)


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
        Match("connect_four_v0", 3, ("b", "a"), MATCH.seed, MATCH.options),
        Match("tictactoe_v0", 4, ("b", "a"), MATCH.seed, MATCH.options),
        Match("tictactoe_v0", 3, ("a", "b"), MATCH.seed, MATCH.options),
        Match("tictactoe_v0", 3, ("b", "a"), 0, MATCH.options),
        Match("tictactoe_v0", 3, ("b", "a"), MATCH.seed, {}),
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
        (load_outcome, '{"seats": 3}'),
        (load_outcome, "null"),
    ],
)
def test_a_damaged_record_is_refused(load, text):
    with pytest.raises(RunError, match="damaged"):
        load(text)


def test_another_match_of_the_same_number_is_refused(store):
    store.add_match(MATCH)
    with pytest.raises(RunError, match="match 3 of tictactoe_v0 was recorded with another seed"):
        store.add_match(Match("tictactoe_v0", 3, ("b", "a"), 0, MATCH.options))
    assert [record.match for record in store.records()] == [MATCH]


def test_a_run_can_be_read_where_nothing_may_be_written(store, monkeypatch):
    store.add_match(MATCH)
    store.close()
    monkeypatch.setattr("os.access", lambda path, mode: False)
    archive = Store(store.path)
    assert [record.match for record in archive.records()] == [MATCH]
    assert [path.name for path in store.path.parent.iterdir()] == ["run.db"]
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        archive.add_turn(MATCH, TURN)
    archive.close()
