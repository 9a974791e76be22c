"""The directory of a run, as others see it while it is made."""

import sqlite3
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from rating.cli import main
from rating.errors import RunError
from rating.play import run_directory
from rating.play.lock import Lock
from rating.store import sqlite

RUN_FILE = """
[[environment]]
name = "tictactoe_v0"

[[policy]]
spec = "random"

[[policy]]
spec = "greedy"
"""


def test_a_run_that_is_being_made_is_no_run_yet(tmp_path, monkeypatch):
    directory, write = tmp_path / "run", Path.write_text

    def stops_half_way(path, text, **options):
        write(path, text[: len(text) // 2], **options)
        with pytest.raises(RunError, match="expected the directory of a run"):
            run_directory.open_run(directory)
        return write(path, text, **options)

    monkeypatch.setattr(Path, "write_text", stops_half_way)
    _, store = run_directory.create(directory, RUN_FILE, "mine.toml")
    store.close()
    _, store = run_directory.open_run(directory)
    store.close()
    assert sorted(path.name for path in directory.iterdir()) == ["run.db", "run.toml"]


@pytest.mark.parametrize("reason", ["changed", "cache", "locked", "damaged"])
def test_run_that_cannot_resume_is_closed(tmp_path, monkeypatch, reason):
    directory = tmp_path / "run"
    run_directory.create(directory, RUN_FILE, "mine.toml")[1].close()
    opened = []
    connect = sqlite._connect
    monkeypatch.setattr(
        sqlite, "_connect", lambda *given, **named: opened.append(connect(*given, **named)) or opened[-1]
    )
    flags, lock = [], nullcontext()
    match reason:
        case "changed":
            run_directory.replace_run_file(directory, f'preset = "llmarena"\n{RUN_FILE}')
        case "cache":
            flags = ["--offline"]
        case "locked":
            lock = Lock(directory)
        case "damaged":
            with closing(sqlite3.connect(directory / "run.db")) as db, db:
                db.execute("UPDATE fact SET value = x'00'")
    with lock:
        assert main(["resume", str(directory), *flags]) == 2
    assert opened
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
