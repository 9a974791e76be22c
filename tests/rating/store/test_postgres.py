"""The store of a run on a server: writes with unknown outcome, readers beside the writer, and refusals."""

import threading
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from sqlalchemy import delete, func, insert, select, text

from agents.models.calls import CallStatus
from agents.records import Attempt
from rating.errors import RunError, StoreError
from rating.store import postgres
from rating.store.engine import TransactionLost
from rating.store.records import VOID, Match, void_outcome
from rating.store.schema import fact
from rating.store.schema import turn as turn_table
from rating.store.store import Store
from tests.rating.store.test_calls import LOGGED
from tests.rating.store.test_store import MATCH, OUTCOME, TURN, turn
from tests.support.stores import ServerPlace

DROP_CONNECTIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid <> pg_backend_pid() AND datname = current_database()"
)
CONNECTIONS = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")


@pytest.fixture
def place(server_place):
    return server_place


@pytest.fixture
def db(place):
    with closing(postgres.create(place.address())) as made:
        yield made


@pytest.fixture
def store(db):
    with closing(Store(db, is_new=True)) as opened:
        yield opened


JUNK = "\0 \x1a \x1a0 \x1a1\0 \x1b[31m '; DROP TABLE match; -- \\ \u2028 \U0001f600 $1 ? %s"


def test_every_text_comes_back_as_it_was(store, place):
    junk = JUNK + "x" * 1_000_000
    match = Match(MATCH.environment, 0, (JUNK, "a"), 1, {"option": JUNK})
    played = replace(TURN, read=junk, attempts=(Attempt(junk, detail={"k": JUNK}),))
    store.set_fact("junk", junk)
    store.add_match(match)
    store.add_turn(match, played)
    store.finish(match, void_outcome(match, VOID), error=junk)
    store.finish(match, OUTCOME, digest=JUNK)
    void = replace(match, number=1)
    store.add_match(void)
    store.finish(void, void_outcome(void, VOID), error=junk)
    with closing(place.open()) as again:
        first, second = again.records()
        assert again.facts()["junk"] == junk
        assert (first.match, first.turns, first.digest) == (match, (played,), JUNK)
        assert second.error == junk
        again.seal()
        assert again.check() == []


@contextmanager
def acknowledgement_lost(db, monkeypatch):
    """Commits the next transaction, but loses the confirmation."""
    lost = []
    transaction, execute = db.transaction, db.execute

    def lose():
        patched.undo()
        lost.append(1)
        raise TransactionLost("the connection was lost")

    @contextmanager
    def unheard_transaction():
        with transaction():
            yield
        lose()

    def unheard_statement(statement, values=None):
        result = execute(statement, values)
        return result if db.in_transaction or statement.is_select else lose()

    with monkeypatch.context() as patched:
        patched.setattr(db, "transaction", unheard_transaction)
        patched.setattr(db, "execute", unheard_statement)
        yield
    assert lost


def test_writes_lost_acknowledgement_write_once(db, store, place, monkeypatch):
    steps = [
        lambda of: of.set_fact("name", "value"),
        lambda of: of.add_match(MATCH),
        lambda of: of.add_turn(MATCH, turn(0)),
        lambda of: of.finish(MATCH, void_outcome(MATCH, VOID), error="503"),
        lambda of: of.add_turn(MATCH, turn(1)),
        lambda of: of.finish(MATCH, OUTCOME, digest="d"),
        lambda of: of.seal(),
    ]
    with closing(place.create("undisturbed")) as undisturbed:
        for step in steps:
            step(undisturbed)
            with acknowledgement_lost(db, monkeypatch):
                step(store)
        assert store.sealed == undisturbed.sealed != ""
        assert list(store.records()) == list(undisturbed.records())
        assert store.check() == []


def test_call_log_lost_acknowledgement_writes_once(db, store, place, monkeypatch):
    log, execute, lost = store.call_log(), db.execute, []

    def unheard(statement, values=None):
        result = execute(statement, values)
        if not statement.is_select:
            lost.append(len(lost) % 2 == 0)
            if lost[-1]:
                raise TransactionLost("the connection was lost")
        return result

    monkeypatch.setattr(db, "execute", unheard)
    for write in (log.begin, log.begin, log.write, log.write):
        write(LOGGED)
    cached = replace(LOGGED, call=replace(LOGGED.call, status=CallStatus.CACHED))
    log.write(cached)
    assert sum(lost) >= 4
    monkeypatch.undo()
    assert list(store.calls()) == [LOGGED, LOGGED, cached]
    assert place.sql("SELECT count(*) FROM call") == [("3",)]


def test_a_connection_that_was_lost_is_opened_again(db, store, place):
    store.add_match(MATCH)
    place.sql(DROP_CONNECTIONS)
    assert store.outcome(MATCH) is None
    place.sql(DROP_CONNECTIONS)
    store.add_turn(MATCH, turn(0))
    with pytest.raises(ValueError, match="a mistake"), db.transaction():
        db.execute(delete(turn_table))
        place.sql(DROP_CONNECTIONS)
        raise ValueError("a mistake")
    assert store.turns(MATCH) == (turn(0),)


def test_transaction_lost_connection_writes_nothing(db, place):
    with pytest.raises(TransactionLost), db.transaction():
        db.execute(insert(fact), {"name": "first", "value": ""})
        place.sql(DROP_CONNECTIONS)
        with pytest.raises(TransactionLost):
            db.execute(insert(fact), {"name": "second", "value": ""})
        db.execute(insert(fact), {"name": "third", "value": ""})
    assert db.all(select(fact)) == []


def test_a_server_that_was_killed_is_waited_for(postgres_server, store):
    store.add_match(MATCH)
    store.add_turn(MATCH, turn(0))
    postgres_server.kill()
    restart = threading.Timer(0.1, postgres_server.start)
    restart.start()
    store.add_turn(MATCH, turn(1))
    restart.join()
    assert store.turns(MATCH) == (turn(0), turn(1))
    assert store.check()[1:] == []


@pytest.mark.slow
def test_unreachable_server_ends_with_an_error(postgres_server, place, monkeypatch):
    monkeypatch.setattr(postgres, "PATIENCE", 0.3)
    with closing(postgres.create(place.address())) as db:
        postgres_server.kill()
        try:
            with pytest.raises(StoreError, match="cannot be reached"):
                db.execute(delete(turn_table))
        finally:
            postgres_server.start()


@pytest.mark.slow
def test_lock_is_taken_again_after_a_lost_connection(store, place):
    store.lock()
    with closing(place.open()) as other:
        with pytest.raises(RunError, match="another process is playing"):
            other.lock()
        place.sql(DROP_CONNECTIONS)
        store.add_match(MATCH)
        with pytest.raises(RunError, match="another process is playing"):
            other.lock()


@pytest.mark.slow
def test_lock_of_a_killed_process_is_waited_for(store, place):
    with closing(place.open()) as other:
        noticed = threading.Timer(0.5, store.close)
        noticed.start()
        other.lock()
        noticed.join()


def test_rows_not_read_to_the_end_leave_no_connection(db):
    rows = db.rows(select(func.generate_series(1, 1000)))
    assert next(rows) == (1,)
    open_before = db.row(CONNECTIONS)
    rows.close()
    assert db.row(CONNECTIONS)[0] <= open_before[0]
    assert list(db.rows(select(func.generate_series(1, 3)))) == [(1,), (2,), (3,)]


def test_open_read_only_refuses_writes(store, place):
    store.add_match(MATCH)
    with closing(place.open(read_only=True)) as looking:
        with pytest.raises(StoreError, match="read-only"):
            looking.add_turn(MATCH, TURN)
        assert [record.match for record in looking.records()] == [MATCH]


def test_create_taken_name_is_refused_unless_empty(store, place):
    store.set_fact("name", "value")
    store.close()
    with pytest.raises(RunError, match="there is a run of this name"):
        place.create()
    place.create("begun").close()
    place.sql("DELETE FROM fact", "begun")  # the seal, which it got when it was closed
    place.create("begun").close()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE TABLE more (x int)", "not as they were made: more"),
        ("DROP TABLE transcript", "not as they were made: transcript"),
        ("ALTER TABLE match ALTER COLUMN number TYPE text", "not as they were made: match"),
        ("COMMENT ON SCHEMA {schema} IS 'llmarena-envs: a run, version 99'", "another version of llmarena-envs"),
        ("COMMENT ON SCHEMA {schema} IS 'mine'", "expected a run, but there is none"),
        ("DROP SCHEMA {schema} CASCADE", "expected a run, but there is none"),
    ],
)
def test_open_other_schema_is_refused(store, place, statement, message):
    store.close()
    place.sql(statement.format(schema=f'"{place.address().schema}"'))
    with pytest.raises(RunError, match=message):
        place.open()
    if "DROP SCHEMA" not in statement:
        with pytest.raises(RunError):
            place.create()


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_create_other_encoding_is_refused(postgres_server, encoding):
    postgres_server.psql(f"CREATE DATABASE narrow_{encoding} ENCODING '{encoding}' TEMPLATE template0")
    narrow = ServerPlace(postgres_server, postgres_server.url(f"narrow_{encoding.lower()}"))
    with pytest.raises(StoreError, match=f"expected a database in UTF8, .* got one in {encoding}; make another one"):
        narrow.create()


def test_open_ignores_settings_of_the_database(postgres_server, postgres_url):
    place = ServerPlace(postgres_server, postgres_url)
    store = place.create()
    for setting in (
        "default_transaction_isolation = serializable",
        "statement_timeout = 1",
        "standard_conforming_strings = off",
        "client_encoding = LATIN1",
        "timezone = 'Asia/Tokyo'",
        "bytea_output = escape",
    ):
        place.sql(f"ALTER DATABASE {place.address().database} SET {setting}")
    with closing(place.open()) as other:
        with closing(place.database()) as database:
            assert database.command("SHOW transaction_isolation").one() == ("read committed",)
            database.row(select(func.pg_sleep(0.01)))
        other.add_match(MATCH)
        played = replace(TURN, read=JUNK)
        other.add_turn(MATCH, played)
        other.finish(MATCH, OUTCOME, digest=JUNK)
        assert next(other.records()).turns == (played,)
    assert [line for line in store.check() if "not sealed" not in line] == []
    store.close()


def test_open_without_usage_names_the_missing_right(store, place):
    owner = place.address()
    place.sql("CREATE ROLE stranger LOGIN")
    try:
        with pytest.raises(StoreError, match=f'permission denied for schema "{owner.schema}"; .* grant USAGE'):
            postgres.open_existing(replace(owner, user="stranger"))
    finally:
        place.sql("DROP ROLE stranger")
