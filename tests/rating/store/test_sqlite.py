"""The file of a run: all of its leftovers are read, and other files are refused without changes."""

import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rating.errors import RunError, StoreError
from rating.store.location import create_file, open_file
from rating.store.records import Match
from rating.store.schema import SCHEMA_VERSION
from tests.rating.store.test_store import MATCH, OUTCOME, TURN


@pytest.fixture
def store(tmp_path):
    with closing(create_file(tmp_path / "run.db")) as opened:
        yield opened


def path_of(store):
    return Path(store.name)


def execute(path, statement):
    with closing(sqlite3.connect(path)) as db, db:
        return db.execute(statement).fetchone()


def copied(store, folder, files):
    """Copies files of a store beside a writer that does not end."""
    folder.mkdir()
    for file in path_of(store).parent.glob(files):
        shutil.copy(file, folder)
    return folder / "run.db"


@pytest.mark.parametrize("reader", [{}, {"read_only": True}])
@pytest.mark.parametrize("files", ["run.db*", "run.*[!m]"], ids=["with index of the log", "without"])
def test_open_file_killed_writer_read_only_directory(store, tmp_path, monkeypatch, files, reader):
    store.add_match(MATCH)
    store.add_turn(MATCH, TURN)
    copy = copied(store, tmp_path / "copy", files)
    before = {file.name for file in copy.parent.iterdir()}
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with closing(open_file(copy, **reader)) as left:
        assert left.turns(MATCH) == (TURN,)
        assert {file.name for file in copy.parent.iterdir()} == before
    assert {file.name for file in copy.parent.iterdir()} == before


@pytest.mark.parametrize("reader", [{}, {"read_only": True}])
def test_open_file_emptied_file_keeps_its_log(store, tmp_path, reader):
    store.add_match(MATCH)
    copy = copied(store, tmp_path / "copy", "run.db*")
    copy.write_bytes(b"")
    with pytest.raises(RunError, match=r"empty, but its log run\.db-wal is not"):
        open_file(copy, **reader)
    assert (copy.parent / "run.db-wal").stat().st_size > 0


def test_create_existing_and_open_missing_file_are_refused(store, tmp_path):
    with pytest.raises(RunError, match="there already"):
        create_file(path_of(store))
    with pytest.raises(RunError, match="does not exist"):
        open_file(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to be taken for one" * 50])
def test_foreign_file_is_refused_unchanged(tmp_path, content):
    path = tmp_path / "run.db"
    path.write_bytes(content)
    with pytest.raises(RunError):
        open_file(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("reader", [{}, {"read_only": True}])
@pytest.mark.parametrize(("change", "writer"), [(1, "a newer"), (-1, "an older")])
def test_another_schema_version_is_refused_untouched(store, change, writer, reader):
    version = SCHEMA_VERSION + change
    execute(path_of(store), f"PRAGMA user_version = {version}")
    store.close()
    before = path_of(store).read_bytes()
    with pytest.raises(RunError, match=f"expected schema version {SCHEMA_VERSION}, got {version}: .* {writer} version"):
        open_file(path_of(store), **reader)
    assert path_of(store).read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE TABLE more (x)", "not as they were made"),
        ("DROP TABLE transcript", "not as they were made"),
        ("CREATE TRIGGER t AFTER INSERT ON turn BEGIN SELECT 1; END", "not as they were made"),
        ("PRAGMA application_id = 1", "not written by llmarena"),
    ],
)
def test_a_database_with_other_tables_is_refused(store, statement, message):
    execute(path_of(store), statement)
    with pytest.raises(RunError, match=message):
        open_file(path_of(store))


def test_a_damaged_database_is_refused(store):
    for number in range(300):
        store.add_match(Match("tictactoe_v0", number, ("a", "b"), number))
    store.close()
    data = bytearray(path_of(store).read_bytes())
    data[4096 * 3 : 4096 * 6] = b"\xff" * (4096 * 3)
    path_of(store).write_bytes(bytes(data))
    with pytest.raises(RunError):
        list(open_file(path_of(store)).records())


@pytest.mark.parametrize("what", ["folder and file", "file", "folder"])
def test_run_can_be_read_on_a_read_only_disk(store, monkeypatch, what):
    store.add_match(MATCH)
    store.close()
    refused = {path_of(store).parent: "folder" in what, path_of(store): "file" in what}
    monkeypatch.setattr("os.access", lambda path, mode: not refused[path])
    with closing(open_file(path_of(store))) as archive:
        assert [record.match for record in archive.records()] == [MATCH]
        assert archive.check() == []
        assert [path.name for path in path_of(store).parent.iterdir()] == ["run.db"]
        with pytest.raises(StoreError, match="readonly"):
            archive.add_turn(MATCH, TURN)


@pytest.mark.slow
@pytest.mark.parametrize("ended", [False, True])
def test_committed_writes_survive_a_kill(tmp_path, ended):
    path = tmp_path / "run.db"
    code = (
        "import os, signal, sys; from pathlib import Path; from rating.store.location import create_file\n"
        "from tests.rating.store.test_store import MATCH, OUTCOME, TURN\n"
        "store = create_file(Path(sys.argv[1])); store.add_match(MATCH); store.add_turn(MATCH, TURN)\n"
        "if sys.argv[2] == 'True': store.finish(MATCH, OUTCOME)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    process = subprocess.run([sys.executable, "-c", code, str(path), str(ended)], check=False)
    assert process.returncode == -signal.SIGKILL
    with closing(open_file(path)) as store:
        assert store.turns(MATCH) == (TURN,)
        assert store.outcome(MATCH) == (OUTCOME if ended else None)
        assert [difference for difference in store.check() if "not sealed" not in difference] == []


def test_the_dictionary_of_an_environment_is_bounded(store):
    noise = "".join(map(chr, np.random.default_rng(0).integers(0x4E00, 0x9FFF, 50_000)))
    for number in range(2):
        match = replace(MATCH, number=number)
        store.add_match(match)
        store.add_turn(match, replace(TURN, read=noise))
        store.finish(match, replace(OUTCOME, number=number))
        assert store.turns(match) == (replace(TURN, read=noise),)
    assert execute(path_of(store), "SELECT max(length(data)), count(*) FROM dictionary") <= (32768, 1)
