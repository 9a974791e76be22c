"""A damaged database is refused and not modified; its copy recovered by SQLite resumes like an undamaged run."""

import re
import shutil
import sqlite3
from contextlib import closing

import pytest

from rating.cli import main
from tests.docs.pages import code_blocks
from tests.rating.runs import left_by

PAGE = 4096
RUN = ["--env", "tictactoe_v0", "--policy", "random", "--policy", "greedy", "--seed", "3", "--workers", "1", "--quiet"]
RUN += ["--min-matches", "12", "--max-matches", "12"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    directory = tmp_path_factory.mktemp("whole") / "run"
    assert main(["run", *RUN, "--out", str(directory)]) == 0
    return directory


def execute(directory, *statements):
    with closing(sqlite3.connect(directory / "run.db", isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


@pytest.mark.parametrize("command", ["rate", "resume"])
def test_damaged_database_is_refused_unchanged(capsys, tmp_path, whole, command):
    directory = shutil.copytree(whole, tmp_path / "run")
    with (directory / "run.db").open("r+b") as file:
        file.seek(3 * PAGE)
        file.write(bytes(4 * PAGE))
    before = (directory / "run.db").read_bytes()
    assert main([command, str(directory)]) == 2
    assert "recover a copy with: sqlite3 run.db .recover" in capsys.readouterr().err
    assert (directory / "run.db").read_bytes() == before


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    "loss",
    [
        "DELETE FROM match WHERE number > 4",
        "DELETE FROM match",
        "DELETE FROM transcript WHERE match IN (SELECT id FROM match WHERE number % 3 = 1)",
        "DELETE FROM fact",
    ],
)
def test_recovered_run_resumed_ends_like_whole_run(tmp_path, whole, loss):
    directory = shutil.copytree(whole, tmp_path / "run")
    execute(directory, loss, "CREATE TABLE lost_and_found (rootpgno INTEGER)")
    blocks = "".join(block.text for block in code_blocks("running.md"))
    execute(directory, *re.findall(r'sqlite3 run\.db "(.+)"', blocks))
    assert main(["resume", str(directory), "--quiet"]) == 0
    assert left_by(directory) == left_by(whole)
    assert main(["replay", str(directory), "--verify"]) == 0
