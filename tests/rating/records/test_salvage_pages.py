"""Rows are found in the pages of a SQLite file: all that SQLite reads, and those that it has no path to any more."""

import errno
import random
import sqlite3
from contextlib import closing

import pytest

from rating.records.salvage.medium import Medium
from rating.records.salvage.pages import Pages

PAGE = 4096


def made(folder, *, log=False, page_size=PAGE, rows=200):
    """Makes a file of rows of all types and sizes and returns its path and the rows."""
    rng, path = random.Random(3), folder / "made.db"
    integers = (0, 1, -1, 127, -128, 32767, 2**23 - 1, -(2**31), 2**47 - 1, 2**63 - 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA page_size = {page_size}")
        if log:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA wal_autocheckpoint = 60")
        db.execute("CREATE TABLE made (a TEXT, b INTEGER, c BLOB, d REAL, e TEXT)")
        db.execute("PRAGMA synchronous = OFF")
        for _ in range(rows):
            text = "ä" * rng.choice((0, 5, 2000, 9000))
            data = rng.randbytes(rng.choice((0, 3, page_size - 40, page_size - 36, page_size, 40_000)))
            db.execute("INSERT INTO made VALUES (?, ?, ?, ?, NULL)", (text, rng.choice(integers), data, rng.random()))
        found = set(db.execute("SELECT * FROM made"))
        for part in ("", "-wal") if log else ("",):  # as a killed process leaves it
            path.with_name(f"copy.db{part}").write_bytes(path.with_name(f"made.db{part}").read_bytes())
    return folder / "copy.db", found


def read(path):
    with Pages(path, path.with_name(f"{path.name}-wal")) as pages:
        return [(place, row, pages.read(place)) for place, row in pages.rows()]


def current(path):
    return {row.values for _, row, _ in read(path) if row.is_current and len(row.values) == 5}


@pytest.mark.parametrize(("log", "page_size"), [(False, 512), (False, 65536), (True, 1024)])
def test_every_row_that_sqlite_reads_is_found(tmp_path, log, page_size):
    path, rows = made(tmp_path, log=log, page_size=page_size)
    found = read(path)
    assert rows <= {row.values for _, row, _ in found if row.is_current}
    assert all(row == again for _, row, again in found)


@pytest.mark.parametrize("log", [False, True])
def test_rows_are_found_without_a_path_to_them(tmp_path, log):
    path, rows = made(tmp_path, log=log)
    content = bytearray(path.read_bytes())
    for page in range(0, len(content), PAGE):
        if page == 0 or content[page] == 5:  # the header and the schema, and every inner page of the table
            content[page : page + PAGE] = bytes(PAGE)
    path.write_bytes(content)
    with pytest.raises(sqlite3.DatabaseError), closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as db:
        db.execute("SELECT * FROM made").fetchall()
    assert rows <= current(path)


def test_a_row_is_read_as_far_as_its_pages_are_there_and_no_further(tmp_path):
    path, rows = made(tmp_path)
    content = path.read_bytes()
    for length in (len(content) // 3, len(content) // 3 + 100):
        path.write_bytes(content[:length])
        found = current(path)
        assert 0 < len(found & rows) < len(rows)
        # What a lost page held is zeros, for which seals are there.
        assert all(any(len(old[2]) == len(row[2]) for old in rows) for row in found)


def test_pages_that_go_on_in_each_other_for_ever_come_to_an_end(tmp_path):
    path, _ = made(tmp_path, rows=100)
    content = bytearray(path.read_bytes())
    for page in range(PAGE, len(content), PAGE):
        if content[page] == 0:  # the next one in a row
            content[page : page + 4] = (page // PAGE + 1).to_bytes(4)
        elif content[page] == 13:  # rows of any length
            content[page + 200 : page + PAGE] = b"\xff" * (PAGE - 200)
    path.write_bytes(content)
    read(path)


def test_sectors_that_cannot_be_read_are_counted_and_the_others_used(tmp_path, monkeypatch):
    path, rows = made(tmp_path)
    content = path.read_bytes()
    leaf = next(page for page in range(10 * PAGE, len(content), PAGE) if content[page] == 13)
    reads, bad = Medium._read, leaf + PAGE - 1

    def fails(medium, place, size):
        if place <= bad < place + size:
            raise OSError(errno.EIO, "Input/output error")
        return reads(medium, place, size)

    monkeypatch.setattr(Medium, "_read", fails)
    with Pages(path, tmp_path / "none") as pages:
        found = {row.values for _, row in pages.rows()}
        assert pages.unreadable
    assert len(rows) - 10 < len(found & rows) < len(rows)


def test_junk_in_place_of_everything_holds_nothing_of_what_was_written(tmp_path):
    path, rows = made(tmp_path)
    path.write_bytes(random.Random(4).randbytes(path.stat().st_size))
    assert not current(path) & rows


def test_a_file_that_is_shorter_than_it_says_is_noticed(tmp_path):
    path, _ = made(tmp_path)
    path.write_bytes(path.read_bytes()[: -3 * PAGE])
    with Pages(path, tmp_path / "none") as pages:
        assert pages.missing == 3
