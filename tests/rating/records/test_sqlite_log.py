"""The log beside a database: damage is found where SQLite would throw away what follows, and nowhere else."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from rating.records import sqlite_log
from rating.records.sqlite_log import find_damage

HEADER = 32


def transactions(db, count, size=3000):
    for _ in range(count):
        db.execute("INSERT INTO t VALUES (randomblob(?))", (size,))


@pytest.fixture
def left(tmp_path):
    """Makes what a killed process leaves after some changes, and returns the log."""

    def make(change, page_size=4096):
        with closing(sqlite3.connect(tmp_path / "live.db", isolation_level=None)) as db:
            db.execute(f"PRAGMA page_size = {page_size}")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA wal_autocheckpoint = 0")
            db.execute("CREATE TABLE t (x)")
            change(db)
            shutil.copy(tmp_path / "live.db", tmp_path / "left.db")
            return shutil.copy(tmp_path / "live.db-wal", tmp_path / "left.db-wal")

    return make


def rows(log):
    """Returns how many rows SQLite reads of a database with a log."""
    with closing(sqlite3.connect(log.with_name("left.db"))) as db:
        return db.execute("SELECT count(*) FROM t").fetchone()[0]


def spoil(log, place, content):
    data = bytearray(log.read_bytes())
    data[place : place + len(content)] = content
    log.write_bytes(data)


def roll_back(db):
    """Undoes a transaction so large that frames of it stand in the log, and writes a small one over the first of them."""
    db.execute("PRAGMA cache_size = 5")
    db.execute("BEGIN")
    transactions(db, 100)
    db.execute("ROLLBACK")
    transactions(db, 1)


def begin_anew(db):
    transactions(db, 50)
    db.execute("PRAGMA wal_checkpoint(RESTART)")
    transactions(db, 3)


@pytest.mark.parametrize("page_size", [512, 4096, 65536])
def test_a_log_that_was_only_left_is_sound(left, monkeypatch, page_size):
    monkeypatch.setattr(sqlite_log, "_AT_ONCE", 1 << 17)  # so that it takes several reads
    log = left(lambda db: transactions(db, 40), page_size)
    assert log.stat().st_size > 1 << 17
    assert find_damage(log) == ""
    spoil(log, HEADER + (24 + page_size) * 3 + 30, b"spoilt")
    assert find_damage(log) == "frame 3 is damaged, and transactions stand behind it"


@pytest.mark.parametrize("change", [roll_back, begin_anew])
def test_what_was_undone_or_taken_into_the_file_is_no_damage(left, change):
    log = left(change)
    assert find_damage(log) == ""
    assert rows(log) in (1, 53)


@pytest.mark.parametrize("where", ["last-frame", "cut-in-a-frame", "zeros-to-the-end", "cut-in-the-header", "empty"])
def test_a_log_that_ends_in_damage_is_left_to_sqlite(left, where):
    log = left(lambda db: transactions(db, 40))
    size = log.stat().st_size
    if where == "last-frame":
        spoil(log, size - 10, b"spoilt")
    elif where == "zeros-to-the-end":
        spoil(log, size // 2, bytes(size - size // 2))
    else:
        content = log.read_bytes()
        log.write_bytes(content[: {"cut-in-a-frame": size // 2, "cut-in-the-header": 20, "empty": 0}[where]])
    assert find_damage(log) == ""


@pytest.mark.parametrize("place", [0, 8, 16, 24, HEADER + 8, HEADER + 16, HEADER + 24])
def test_damage_is_found_wherever_sqlite_would_pass_over_everything(left, place):
    log = left(lambda db: transactions(db, 40))
    spoil(log, place, b"\xff\xff\xff\xff")
    assert "damaged" in find_damage(log)
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        rows(log)


def test_a_log_that_is_not_there_is_sound(tmp_path):
    assert find_damage(tmp_path / "run.db-wal") == ""
