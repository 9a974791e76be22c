"""Exported files: matches left out, hostile texts, damaged records and refused options."""

import json
import os
import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from rating.cli import main
from rating.play import run_directory
from rating.store.records import VOID, void_outcome
from rating.training.conversations import Tally
from rating.training.write import card, escaped
from tests.rating.runs import play_run
from tests.rating.training.conftest import NAME
from tests.rating.training.matches import HOSTILE

JUDGED = """
seed = 1
workers = 1
schedule = "round_robin"
[stop]
min_matches = 4
max_matches = 4
[[environment]]
name = "tests.rating.judged_env"
scheme = "duels"
options = {{ n_judges = {judges} }}
staff = {{ judge = ["judge"] }}
[[policy]]
name = "judge"
spec = "tests.rating.judged_env:Model"
rated = false
[[policy]]
name = "{name}"
spec = "tests.rating.judged_env:Model"
[[policy]]
name = "weak"
spec = "tests.rating.judged_env:Model"
options = {{ strength = 10 }}
"""


GUESTS = """
seed = 1
workers = 1
schedule = "round_robin"
[stop]
min_matches = 2
max_matches = 2
[[environment]]
name = "tictactoe_v0"
[[policy]]
name = "Anna"
spec = "tests.rating.training.matches:Guest"
options = { text = "private", stumbles = 4 }
[[policy]]
spec = "random"
[[policy]]
spec = "minimax"
"""


def export(directory: Path, *flags: str, format: str = "sft") -> int:
    return main(["export", str(directory), "--format", format, *flags])


@dataclass
class Printed:
    """Exit code, rows on standard output, and standard error of an export."""

    code: int
    rows: list[dict[str, Any]]
    err: str


@pytest.fixture
def exported(capsys: pytest.CaptureFixture[str]) -> Callable[..., Printed]:
    """Exports to standard output."""

    def export_and_read(directory: Path, *flags: str, format: str = "sft") -> Printed:
        code = export(directory, *flags, format=format)
        out, err = capsys.readouterr()
        return Printed(code, [json.loads(line) for line in out.split("\n")[:-1]], err)

    return export_and_read


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("format", ["sft", "preference", "grpo", "deals"])
def test_export_same_run_gives_the_same_json_lines(
    run: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], format: str
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for path in (first, second):
        assert export(run, "--out", str(path), format=format) == 0
    assert first.read_bytes() == second.read_bytes()
    assert all(isinstance(json.loads(line), dict) for line in first.read_text(encoding="utf-8").splitlines())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]
    assert export(run, format=format) == 0
    assert capfdbinary.readouterr().out == first.read_bytes()


def test_export_hostile_replies_are_unchanged(run: Path, exported: Callable[..., Printed]) -> None:
    found = exported(run, "--policy", NAME)
    assert "\n" + HOSTILE.replace("\ud800", "?") + "\n" in found.rows[0]["messages"][2]["content"]


def test_export_staff_only_with_the_flag(tmp_path: Path, exported: Callable[..., Printed]) -> None:
    directory = play_run(tmp_path / "run", JUDGED.format(judges=3, name="strong"))
    for flags, roles in ((), {"debater"}), (("--staff",), {"debater", "judge"}):
        assert {row["agent"].partition("_")[0] for row in exported(directory, *flags).rows} == roles
    winners = exported(directory, "--staff", "--winners").rows
    assert winners and all(row["reward"] == 1 for row in winners)


def test_export_undecided_matches_are_counted(tmp_path: Path, exported: Callable[..., Printed]) -> None:
    run_file = JUDGED.format(judges=0, name="strong").replace('staff = { judge = ["judge"] }', "")
    found = exported(play_run(tmp_path / "run", run_file))
    assert found == Printed(0, [], "0 rows of 0 matches; left out: 4 undecided\n")


def test_export_people_only_with_the_flag(tmp_path: Path, exported: Callable[..., Printed]) -> None:
    directory = play_run(tmp_path / "run", JUDGED.format(judges=1, name="human"))
    for format in ("sft", "deals"):
        found = exported(directory, format=format)
        assert found == Printed(0, [], "0 rows of 0 matches; left out: 4 with a person\n")
    found = exported(directory, "--people")
    assert "left out: none" in found.err and "human" in {row["policy"] for row in found.rows}


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("withdrawn", [True, False])
def test_export_people_found_under_any_name_if_withdrawn(
    tmp_path: Path, exported: Callable[..., Printed], withdrawn: bool
) -> None:
    directory = play_run(tmp_path / "run", GUESTS)
    if withdrawn:
        text = (directory / "run.toml").read_text(encoding="utf-8")
        (directory / "run.toml").write_text(text.replace('name = "Anna"', 'name = "Anna"\nwithdrawn = true'))
    found = exported(directory)
    assert found.code == 0 and "private" not in str(found.rows) and "4 with a person" in found.err
    assert {row["policy"] for row in exported(directory, "--people", "--policy", "Anna").rows} == {"Anna"}


def test_export_damaged_matches_are_reported(run: Path, tmp_path: Path, exported: Callable[..., Printed]) -> None:
    directory = shutil.copytree(run, tmp_path / "run")
    with closing(run_directory.open_store(directory)) as store:
        records = list(store.records())
        waiting, void, begun = (
            replace(records[-1].match, number=records[-1].match.number + more) for more in (1, 2, 3)
        )
        for match in (waiting, void, begun):
            store.add_match(match)
        store.finish(void, void_outcome(void, VOID), error="gone")
        for turn in records[-1].turns[:2]:
            store.add_turn(begun, turn)
    with closing(sqlite3.connect(directory / "run.db")) as db, db:
        first, second, third = (record.match.id for record in records[:3])
        db.execute("UPDATE transcript SET turns = x'00' WHERE match = ?", (first,))
        db.execute("UPDATE match SET digest = 'x' WHERE id = ?", (second,))
        db.execute("UPDATE match SET options = ? WHERE id = ?", (r'{"language": "\ud800"}', third))
    found = exported(directory)
    matches = {row["match"] for row in found.rows}
    assert found.code == 1 and len(matches) > 5 and {first, second, third}.isdisjoint(matches)
    *problems, summary = found.err.splitlines()
    assert [problem.partition(":")[0] for problem in problems] == [
        f"match {first} (tictactoe_v0 0)",
        "match 1 of tictactoe_v0",
        f"match {third} (tictactoe_v0 2)",
    ]
    assert summary.endswith("left out: 3 not as recorded, 2 unfinished, 1 void")


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("column", ["policies", "seats", "id", "options"])
def test_export_deals_leaves_out_only_the_damaged_match(
    run: Path, tmp_path: Path, exported: Callable[..., Printed], column: str
) -> None:
    directory = shutil.copytree(run, tmp_path / "run")
    every = sum(row["matches"] for row in exported(directory, format="deals").rows)
    with closing(sqlite3.connect(directory / "run.db")) as db, db:
        db.execute(f"UPDATE match SET {column} = CAST(x'ff7b' AS TEXT) WHERE number = 2")
    found = exported(directory, format="deals")
    assert found.code == 1 and "left out: 1 not as recorded" in found.err
    assert sum(row["matches"] for row in found.rows) == every - 1


def test_export_long_problems_are_cut(run: Path, tmp_path: Path, exported: Callable[..., Printed]) -> None:
    directory = shutil.copytree(run, tmp_path / "run")
    with closing(sqlite3.connect(directory / "run.db")) as db, db:
        db.execute("UPDATE match SET digest = ? WHERE number = 1", ("x" * 100_000,))
    found = exported(directory)
    assert found.code == 1 and 500 < len(found.err) < 2000


@pytest.mark.parametrize(
    ("format", "flags", "expected"),
    [
        ("sft", ["--margin", "1"], "--margin: not an option of --format sft"),
        ("csv", ["--winners"], "--winners: not an option of --format csv"),
        ("battles", ["--out", "x"], "--out: not an option of --format battles"),
        ("sft", ["--environment", "holdem_v0"], "environment: expected"),
        ("sft", ["--policy", "unknown"], "policy: expected"),
        ("sft", ["--out", "."], "expected a file to write, but it is a directory"),
        ("grpo", ["--out", "nowhere/rows"], "expected an existing directory to write the file in"),
        ("sft", ["--parquet"], "--parquet: expected --out DIR"),
    ],
)
def test_export_invalid_options_are_refused(
    run: Path, capsys: pytest.CaptureFixture[str], format: str, flags: list[str], expected: str
) -> None:
    assert export(run, *flags, format=format) == 2
    assert expected in capsys.readouterr().err


def test_export_parquet_without_pyarrow_names_the_extra(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert export(run, "--parquet", "--out", str(tmp_path / "data")) == 2
    assert "pip install 'llmarena-envs[parquet]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_export_failed_write_keeps_the_old_file(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows").write_text("before")
    (tmp_path / "rows.unfinished").mkdir()
    monkeypatch.setattr("rating.training.write.write_json_lines", lambda *_: 1 / 0)
    assert export(run, "--out", str(tmp_path / "rows")) == 1
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


@pytest.mark.parametrize("reward", ["nan", "-inf"])
def test_export_min_reward_must_be_finite(run: Path, capsys: pytest.CaptureFixture[str], reward: str) -> None:
    with pytest.raises(SystemExit):
        export(run, f"--min-reward={reward}")
    assert f"--min-reward: expected a finite number, got {reward}" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("format", ["sft", "grpo"])
def test_export_writes_into_a_pipe(run: Path, tmp_path: Path, format: str) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")), daemon=True)
    reader.start()
    assert export(run, "--out", str(pipe), format=format) == 0
    reader.join(30)
    assert export(run, "--out", str(tmp_path / "rows"), format=format) == 0
    assert read == [(tmp_path / "rows").read_text(encoding="utf-8")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe", "rows"]


def test_export_to_a_link_replaces_its_target(run: Path, tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("before")
    (tmp_path / "link").symlink_to("rows")
    assert export(run, "--out", str(tmp_path / "link")) == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "rows").read_text(encoding="utf-8") != "before"


def test_card_escapes_markup_in_names() -> None:
    tally = Tally()
    tally.policies[NAME] = tally.policies["名 *a* [b](c) \u2028 ---\n# x"] = 1
    tally.languages |= {"en", "]\nlicense: mit"}
    text = card("sft", 1, tally, {"policies": NAME}, {}, {})
    assert not any(mark in text for mark in (NAME, "<b>", "[b]", "*a*", "`y`", "license: mit", "\u2028", "\n# x"))
    assert escaped("a|b<c") == "a&#124;b&#60;c"
