import json
import time
from pathlib import Path

import pytest

from benchmarks.clients import __main__ as command
from benchmarks.clients.__main__ import CLIENTS, GROUPS, HERE, ROOT, failed, run_client, run_elsewhere
from benchmarks.clients.table import table
from benchmarks.clients.trials import ACCEPTED, REFUSED, Row

PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("client", CLIENTS)
def test_page_shows_each_client_with_its_script(client):
    script = (HERE / "scripts" / f"{client}.py").read_text(encoding="utf-8")
    assert f"```python\n{script}```\n" in PAGE
    assert f"\n| `{client}` |" in PAGE


def test_every_group_has_its_requirements_and_there_are_no_others():
    assert {path.stem for path in (HERE / "requirements").glob("*.txt")} == set(GROUPS)
    assert {path.stem for path in (HERE / "scripts").glob("*.py")} == set(CLIENTS)


def test_table_errors_cannot_break_it():
    lines = table([failed("rllib", "Error: a | b ` c")]).splitlines()
    assert lines[2].count("|") == lines[0].count("|") == 4 + 12
    assert lines[2].startswith("| `rllib` | all trials |  | no (1) |")
    assert lines[4] == "1. `Error: a / b ' c`"


def test_table_shares_the_note_of_an_error():
    rows = [Row("sb3", "PPO", "text", game, REFUSED, "KeyError: 1") for game in ("tictactoe_v0", "holdem_v0")]
    peer = Row("sb3", "PPO", "vector", "hanabi_v0", ACCEPTED, "", "hanabi_v5", "KeyError: 2")
    lines = table([*rows, peer]).splitlines()
    assert [line.count("no (1)") for line in lines] == [0, 0, 2, 0, 0, 0, 0]
    assert "yes (2)" in lines[3]
    assert lines[5:] == ["1. `KeyError: 1`", "2. PettingZoo's `hanabi_v5` is not accepted: `KeyError: 2`"]


@pytest.mark.slow
def test_a_client_runs_in_this_interpreter_and_writes_its_rows(tmp_path, capsys):
    path = tmp_path / "rows.json"
    assert command.main(["pettingzoo", "--smoke", "--json", str(path)]) == 0
    rows = [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    assert {row.verdict for row in rows} == {ACCEPTED}
    assert "| `pettingzoo` | api_test | text | yes |" in capsys.readouterr().out


def test_a_name_that_there_is_not_is_answered_with_those_there_are(capsys):
    with pytest.raises(SystemExit):
        command.main(["sb4"])
    assert "expected one of pettingzoo, gymnasium_vector" in capsys.readouterr().err


@pytest.mark.parametrize(("is_known", "code"), [(True, 0), (False, 1)])
def test_only_an_unknown_refusal_fails_the_command(is_known, code, monkeypatch, capsys):
    row = Row("sb3", "PPO", "text", "bid_v0", REFUSED, "KeyError: 1", is_known=is_known)
    monkeypatch.setattr(command, "run_client", lambda client, smoke: [row])
    assert command.main(["sb3"]) == code
    assert ("refused: sb3 | PPO | text | bid_v0: KeyError: 1" in capsys.readouterr().err) is not is_known


def test_a_library_that_is_missing_is_a_row():
    (row,) = run_client("no_such_library", smoke=True)
    assert (row.client, row.verdict, row.is_known) == ("no_such_library", REFUSED, False)
    assert row.reason.startswith("ModuleNotFoundError: No module named")


def test_rows_come_back_from_another_interpreter(tmp_path):
    row = failed("sb3", "Error: é")
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\ncat > \"$5\" <<'END'\n{json.dumps([row._asdict()])}\nEND\n", encoding="utf-8")
    python.chmod(0o755)
    assert run_elsewhere(python, ["sb3"], smoke=True) == [row]


def test_a_process_that_dies_is_a_row():
    (row,) = run_elsewhere(Path("/bin/false"), ["sb3"], smoke=True)
    assert row.reason == "ended with code 1: "


@pytest.mark.slow
def test_a_client_that_hangs_is_ended_with_all_it_started(tmp_path, monkeypatch):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n(sleep 2; touch {tmp_path}/late) &\nsleep 60\n", encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(command, "_SMOKE_SECONDS", 1)
    (row,) = run_elsewhere(python, ["sb3"], smoke=True)
    assert row.reason == "not finished within 1 s"
    time.sleep(1.5)
    assert not (tmp_path / "late").exists()
