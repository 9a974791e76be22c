"""What is exported, what is left out, and what becomes of hostile words and damaged records."""

import json
import os
import shutil
import sqlite3
import sys
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from rating.cli import main
from rating.play import run_directory
from rating.store.outcome import VOID
from rating.store.record import void_outcome
from rating.training.card import Card, escaped
from rating.training.parquet import Written
from rating.training.selection import Tally
from tests.rating.training.conftest import NAME, played
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


def export(directory: Path, *flags: str, format: str = "sft") -> int:
    return main(["export", str(directory), "--format", format, *flags])


@pytest.mark.parametrize("format", ["sft", "preference", "grpo", "deals"])
def test_every_line_is_an_object_and_the_same_run_gives_the_same_bytes(
    run: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], format: str
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for path in (first, second):
        assert export(run, "--out", str(path), format=format) == 0
    text = first.read_text(encoding="utf-8")
    assert first.read_bytes() == second.read_bytes()
    assert all(isinstance(json.loads(line), dict) for line in text.splitlines())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]
    assert export(run, format=format) == 0
    assert capfdbinary.readouterr().out == first.read_bytes()


def test_words_of_players_come_through_as_they_are(run: Path, tmp_path: Path) -> None:
    assert export(run, "--out", str(tmp_path / "rows"), "--policy", NAME) == 0
    lines = (tmp_path / "rows").read_text(encoding="utf-8").split("\n")
    said = json.loads(lines[0])["messages"][2]["content"]
    assert "\n" + HOSTILE.replace("\ud800", "?") + "\n" in said


def test_staff_is_left_out_unless_it_is_asked_for(tmp_path: Path) -> None:
    directory = played(tmp_path / "run", JUDGED.format(judges=3, name="strong"))
    for flags, roles in ((), {"debater"}), (("--staff",), {"debater", "judge"}):
        assert export(directory, "--out", str(tmp_path / "rows"), *flags) == 0
        rows = [json.loads(line) for line in (tmp_path / "rows").read_text().splitlines()]
        assert {row["agent"].partition("_")[0] for row in rows} == roles
    assert export(directory, "--out", str(tmp_path / "rows"), "--staff", "--winners") == 0
    rows = [json.loads(line) for line in (tmp_path / "rows").read_text().splitlines()]
    assert rows and all(row["reward"] == 1 for row in rows)


def test_undecided_matches_are_left_out_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = played(
        tmp_path / "run", JUDGED.format(judges=0, name="strong").replace('staff = { judge = ["judge"] }', "")
    )
    assert export(directory) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "0 rows of 0 matches; left out: 4 undecided\n"


def test_matches_of_people_are_left_out_unless_they_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = played(tmp_path / "run", JUDGED.format(judges=1, name="human"))
    for format in ("sft", "deals"):
        assert export(directory, format=format) == 0
        printed = capsys.readouterr()
        assert (printed.out, printed.err) == ("", "0 rows of 0 matches; left out: 4 with a person\n")
    assert export(directory, "--people") == 0
    printed = capsys.readouterr()
    assert "left out: none" in printed.err
    assert "human" in printed.out


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


@pytest.mark.parametrize("withdrawn", [False, True])
def test_a_person_is_known_by_any_name_and_after_leaving(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], withdrawn: bool
) -> None:
    directory = played(tmp_path / "run", GUESTS)
    if withdrawn:
        text = (directory / "run.toml").read_text(encoding="utf-8")
        (directory / "run.toml").write_text(text.replace('name = "Anna"', 'name = "Anna"\nwithdrawn = true'))
    assert export(directory) == 0
    printed = capsys.readouterr()
    assert "private" not in printed.out
    assert "4 with a person" in printed.err
    assert export(directory, "--people", "--policy", "Anna") == 0
    assert {json.loads(line)["policy"] for line in capsys.readouterr().out.split("\n")[:-1]} == {"Anna"}


def test_what_has_no_result_is_counted_and_what_is_damaged_is_reported(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = shutil.copytree(run, tmp_path / "run")
    with closing(run_directory.open_store(directory)) as store:
        records = list(store.records())
        last = records[-1].match
        for number in (1, 2, 3):
            match = replace(last, number=last.number + number)
            store.add_match(match)
            if number == 2:
                store.finish(match, void_outcome(match, VOID), error="gone")
            if number == 3:
                for turn in records[-1].turns[:2]:
                    store.add_turn(match, turn)
    with closing(sqlite3.connect(directory / "run.db")) as db, db:
        first, second, third = (record.match.id for record in records[:3])
        db.execute("UPDATE transcript SET turns = x'00' WHERE match = ?", (first,))
        db.execute("UPDATE match SET digest = 'x' WHERE id = ?", (second,))
        db.execute("UPDATE match SET options = ? WHERE id = ?", (r'{"language": "\ud800"}', third))
    assert export(directory) == 1
    printed = capsys.readouterr()
    rows = [json.loads(line) for line in printed.out.split("\n")[:-1]]
    assert {first, second, third}.isdisjoint(row["match"] for row in rows)
    assert len({row["match"] for row in rows}) > 10, printed.err
    problems, summary = printed.err.splitlines()[:-1], printed.err.splitlines()[-1]
    assert [problem.partition(":")[0] for problem in problems] == [
        f"match {first} (tictactoe_v0 0)",
        "match 1 of tictactoe_v0",
        f"match {third} (tictactoe_v0 2)",
    ]
    assert summary.endswith("left out: 3 not as recorded, 2 unfinished, 1 void")


@pytest.mark.parametrize("column", ["policies", "seats", "id", "options"])
def test_a_match_that_is_no_text_is_left_out_alone(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], column: str
) -> None:
    directory = shutil.copytree(run, tmp_path / "run")
    assert export(directory, format="deals") == 0
    every = sum(json.loads(line)["matches"] for line in capsys.readouterr().out.split("\n")[:-1])
    with closing(sqlite3.connect(directory / "run.db")) as db, db:
        db.execute(f"UPDATE match SET {column} = CAST(x'ff7b' AS TEXT) WHERE number = 2")
    assert export(directory, format="deals") == 1
    printed = capsys.readouterr()
    assert sum(json.loads(line)["matches"] for line in printed.out.split("\n")[:-1]) == every - 1
    assert "left out: 1 not as recorded" in printed.err


@pytest.mark.parametrize(
    ("format", "flags", "expected"),
    [
        ("sft", ["--margin", "1"], "--margin: --format sft has none"),
        ("grpo", ["--winners"], "--winners: --format grpo has none"),
        ("preference", ["--reasoning"], "--reasoning: --format preference has none"),
        ("deals", ["--policy", "random"], "--policy: --format deals has none"),
        ("csv", ["--winners"], "--winners: --format csv has none"),
        ("battles", ["--out", "x"], "--out: --format battles has none"),
        ("sft", ["--environment", "holdem_v0"], "environment: expected"),
        ("sft", ["--policy", "nobody"], "policy: expected"),
        ("sft", ["--out", "."], "expected a file to write, but it is a directory"),
        ("grpo", ["--out", "nowhere/rows"], "expected a directory to write the file in"),
        ("sft", ["--parquet"], "--parquet: expected --out DIR"),
    ],
)
def test_what_a_format_does_not_have_is_refused(
    run: Path, capsys: pytest.CaptureFixture[str], format: str, flags: list[str], expected: str
) -> None:
    assert export(run, *flags, format=format) == 2
    assert expected in capsys.readouterr().err


def test_without_pyarrow_it_is_said_what_to_install(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert export(run, "--parquet", "--out", str(tmp_path / "data")) == 2
    assert "pip install 'llmarena-envs[parquet]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_of_what_was_not_finished(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rows").write_text("before")
    (tmp_path / "rows.unfinished").mkdir()
    monkeypatch.setattr("rating.training.exporting.write_json_lines", lambda *_: 1 / 0)
    assert export(run, "--out", str(tmp_path / "rows")) == 1
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


@pytest.mark.parametrize("reward", ["nan", "inf", "-inf"])
def test_a_reward_is_a_number(run: Path, capsys: pytest.CaptureFixture[str], reward: str) -> None:
    with pytest.raises(SystemExit):
        export(run, f"--min-reward={reward}")
    assert f"--min-reward: expected a finite number, got {reward}" in capsys.readouterr().err


@pytest.mark.parametrize("format", ["sft", "grpo"])
def test_a_pipe_stays_a_pipe(run: Path, tmp_path: Path, format: str) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")), daemon=True)
    reader.start()
    assert export(run, "--out", str(pipe), format=format) == 0
    reader.join(30)
    assert export(run, "--out", str(tmp_path / "rows"), format=format) == 0
    assert read == [(tmp_path / "rows").read_text(encoding="utf-8")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe", "rows"]


def test_of_a_link_the_file_is_written_that_it_names(run: Path, tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("before")
    (tmp_path / "link").symlink_to("rows")
    assert export(run, "--out", str(tmp_path / "link")) == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "rows").read_text(encoding="utf-8") != "before"


def test_of_long_differences_the_beginning_is_told(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = shutil.copytree(run, tmp_path / "run")
    with closing(sqlite3.connect(directory / "run.db")) as db, db:
        db.execute("UPDATE match SET digest = ? WHERE number = 1", ("x" * 100_000,))
    assert export(directory) == 1
    assert 500 < len(capsys.readouterr().err) < 2000


def test_names_are_no_markup_in_a_card() -> None:
    tally = Tally()
    tally.policies[NAME] = tally.policies["名 *a* [b](c) \u2028 ---\n# x"] = 1
    tally.languages |= {"en", "]\nlicense: mit"}
    text = Card("sft", {"messages": ["string"]}, Written(1, 2), tally, {"policies": [NAME]}, {}, {}).text()
    assert not any(mark in text for mark in (NAME, "<b>", "[b]", "*a*", "`y`", "license: mit", "\u2028", "\n# x"))
    assert escaped("a|b<c") == "a&#124;b&#60;c"
