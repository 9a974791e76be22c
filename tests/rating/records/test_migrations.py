"""Migrations of a run in PostgreSQL, from a made older version, with real back-ups; and of a file with one."""

import os
import subprocess
from contextlib import closing

import pytest

from benchmarks.postgres_server import find_programs
from rating.cli import main
from rating.errors import RunError
from rating.records.file import open_file
from rating.records.postgres import backup, connection, migrations, runs, schema
from rating.records.postgres.address import parse_address
from rating.records.postgres.migrations import Migration
from rating.records.sqlite import open_existing
from tests.rating.records.test_version_1 import contents, old  # noqa: F401  (a fixture)

OLDER = ("ALTER TABLE match RENAME COLUMN error TO trouble", "ALTER TABLE fact ADD COLUMN noted bigint")
NEWER = ("ALTER TABLE match RENAME COLUMN trouble TO error", "ALTER TABLE fact DROP COLUMN noted")


@pytest.fixture
def address(postgres_url, monkeypatch):
    """A run whose tables are made those of an older version, with the server's programs in the path."""
    monkeypatch.setenv("PATH", os.pathsep.join((str(find_programs()), os.environ["PATH"])))
    address = parse_address(postgres_url).of("Study.1")
    with closing(runs.create(address)) as db:
        db.execute("INSERT INTO fact VALUES ('who', 'me')")
        for statement in OLDER:
            db.execute(statement)
    monkeypatch.setattr(schema, "VERSION", 2)
    steps = Migration(1, "of the first release", ("SELECT 1/0",)), Migration(2, "errors by their name", NEWER)
    monkeypatch.setattr(migrations, "MIGRATIONS", steps)
    return address


def columns(address):
    with closing(connection.Postgres(address)) as db:
        return db.version(), db.strange_tables()


def test_a_run_of_an_older_version_is_refused_migrated_and_read(address, tmp_path, capsys):
    with pytest.raises(RunError, match=r"llmarena migrate 'postgresql://.*/db[0-9]+' --run Study.1 --backup FILE"):
        runs.open_existing(address)
    command = ["migrate", address.url, "--run", "Study.1", "--backup", str(tmp_path / "before.dump")]
    assert main(command) == 0
    assert capsys.readouterr().out == f"schema version 2: errors by their name\nback-up: {tmp_path / 'before.dump'}\n"
    with closing(runs.open_existing(address)) as db:
        assert db.all("SELECT name, value FROM fact") == [("who", "me")]
    assert main([*command[:-1], str(tmp_path / "second.dump")]) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["before.dump"]


def test_the_back_up_is_restored(address, tmp_path):
    before = columns(address)
    migrations.migrate(address, tmp_path / "before.dump")
    assert columns(address) != before
    runs.drop(address)
    subprocess.run([find_programs() / "pg_restore", "-d", address.url, tmp_path / "before.dump"], check=True)
    assert columns(address) == before
    with closing(connection.Postgres(address)) as db:
        assert db.all("SELECT name, value, noted FROM fact") == [("who", "me", None)]


@pytest.mark.parametrize("reason", ["there already", "no pg_dump", "too old", "fails", "played", "workers", "changed"])
def test_what_cannot_be_backed_up_or_migrated_is_left_as_it_is(reason, address, tmp_path, monkeypatch):
    before, path = columns(address), tmp_path / "before.dump"
    said = {
        "there already": "expected a new file",
        "no pg_dump": r"pg_dump of version \d+ or newer, got none: apt-get install postgresql-client-\d+",
        "too old": r"pg_dump of version \d+ or newer, got version 9: apt-get install postgresql-client-\d+",
        "fails": "could not be backed up, so nothing was changed",
        "played": "another process is playing this run",
        "workers": "expected nobody at work",
        "changed": "changed by somebody: fact",
    }[reason]
    with closing(connection.Postgres(address)) as other:
        if reason == "there already":
            path.write_text("mine")
        elif reason == "no pg_dump":
            monkeypatch.setattr(backup, "_INSTALLED", tmp_path)
            monkeypatch.setenv("PATH", str(tmp_path))
        elif reason == "too old":
            monkeypatch.setattr(backup, "_version", lambda program: 9)
        elif reason == "fails":
            path = tmp_path / "no" / "such" / "directory"
        elif reason == "played":
            other.lock()
        elif reason == "workers":
            other.execute("INSERT INTO claim (match, kind, worker) VALUES ('m', 'asking', 'w')")
        else:
            other.execute("ALTER TABLE fact ADD COLUMN mine bigint")
            before = columns(address)
        with pytest.raises(RunError, match=said):
            migrations.migrate(address, path)
    assert columns(address) == before
    assert path.exists() == (
        reason in ("there already", "changed")
    )  # what was done before is only undone in the database


def test_a_run_of_a_newer_version_is_refused(address, tmp_path, monkeypatch):
    monkeypatch.setattr(schema, "VERSION", 0)
    with pytest.raises(RunError, match="newer version of llmarena-envs"):
        migrations.migrate(address, tmp_path / "before.dump")


def test_what_is_no_run_is_not_migrated(tmp_path, capsys):
    assert main(["migrate", str(tmp_path / "none"), "--backup", str(tmp_path / "kept.db")]) == 2
    assert "expected the directory of a run" in capsys.readouterr().err


def test_a_file_is_copied_before_it_is_converted(old, tmp_path, capsys):  # noqa: F811
    before, kept = contents(old), tmp_path / "kept.db"
    assert main(["migrate", str(tmp_path), "--backup", str(old)]) == 2
    assert main(["migrate", str(tmp_path), "--backup", str(old / "no.db")]) == 2
    assert "no.db: the back-up cannot be written, so nothing was changed" in capsys.readouterr().err
    assert contents(old) == before
    assert main(["migrate", str(tmp_path), "--backup", str(kept)]) == 0
    assert contents(kept) == before
    with closing(open_existing(kept)) as db:
        assert db.version() == 1
    with closing(open_file(old)) as store:
        assert store.facts()["converted"] == "from schema version 1"
        assert store.check() == []
    assert main(["migrate", str(tmp_path), "--backup", str(tmp_path / "another.db")]) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert not (tmp_path / "another.db").exists()
