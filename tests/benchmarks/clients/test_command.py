import json
import time
from pathlib import Path

import pytest

from benchmarks.clients import __main__ as command
from benchmarks.clients import virtual_environments
from benchmarks.clients.page import PAGE, fill
from benchmarks.clients.report import (
    GROUPS,
    HERE,
    SCRIPT,
    failed,
    from_json,
    read_verdicts,
    replace_verdicts,
    run_client,
)
from benchmarks.clients.trials import ACCEPTED, REFUSED
from benchmarks.clients.virtual_environments import run_elsewhere

CLIENTS = [client for clients in GROUPS.values() for client in clients]


def test_the_page_shows_the_verdicts_and_the_scripts_that_stand_beside_them():
    page = PAGE.read_text(encoding="utf-8")
    assert fill(page, read_verdicts()) == page
    assert page.count("<!-- begin ") == page.count("<!-- end -->") == 2 + len(CLIENTS)


def test_every_client_was_run_and_its_script_with_it():
    reports = read_verdicts()
    assert [report.client for report in reports] == CLIENTS
    for report in reports:
        assert [row.verdict for row in report.rows if row.trial == SCRIPT] == [ACCEPTED], report.client
        assert len(report.rows) > 1


def test_every_group_has_its_requirements_and_there_are_no_others():
    assert {path.stem for path in (HERE / "requirements").glob("*.txt")} == set(GROUPS)
    assert {path.stem for path in (HERE / "scripts").glob("*.py")} == set(CLIENTS)


def test_errors_cannot_break_the_table():
    reports = read_verdicts()
    report = failed("rllib", "Error: a | b ` c")
    page = "<!-- begin verdicts -->\n<!-- end -->"
    (line,) = [line for line in fill(page, [*reports, report]).split("\n") if "all trials" in line]
    assert line.count("|") == 4 + 12
    with pytest.raises(ValueError, match=r"got 'nothing'"):
        fill(page.replace("verdicts", "nothing"), reports)


def test_reports_survive_json():
    reports = read_verdicts()
    assert [from_json(json.loads(json.dumps(report.as_json()))) for report in reports] == reports


@pytest.mark.slow
def test_a_client_runs_in_this_interpreter_and_writes_what_came_out(tmp_path, capsys):
    assert command.main(["pettingzoo", "--smoke", "--out", str(tmp_path)]) == 0
    report = from_json(json.loads((tmp_path / "pettingzoo.json").read_text(encoding="utf-8")))
    assert {row.verdict for row in report.rows} == {ACCEPTED}
    assert "pettingzoo | api_test | text | debate_v0 | accepted" in capsys.readouterr().out


def test_without_a_name_all_clients_run(monkeypatch):
    monkeypatch.setattr(command, "_run_groups", lambda smoke: read_verdicts())
    assert command.main([]) == 0


def test_a_name_that_there_is_not_is_answered_with_those_there_are(capsys):
    with pytest.raises(SystemExit):
        command.main(["sb4"])
    assert "expected one of pettingzoo, gymnasium_vector" in capsys.readouterr().err


def test_a_lost_verdict_fails_the_command(monkeypatch, capsys):
    monkeypatch.setattr(command, "run_client", lambda client, smoke: failed(client, "ImportError: gone"))
    assert command.main(["sb3"]) == 1
    said = capsys.readouterr().err
    assert "no longer accepted: sb3 | script" in said
    assert "not as on the page: sb3 | all trials |  | : refused ImportError: gone" in said


def test_a_library_that_is_missing_is_a_row():
    (row,) = run_client("no_such_library", smoke=True).rows
    assert (row.client, row.verdict) == ("no_such_library", REFUSED)
    assert row.reason.startswith("ModuleNotFoundError: No module named")


def test_a_report_comes_back_from_another_interpreter(tmp_path):
    report = failed("sb3", "Error: é")
    python = tmp_path / "python"
    python.write_text(
        f"#!/bin/sh\ncat > \"$5/sb3.json\" <<'END'\n{json.dumps(report.as_json())}\nEND\n", encoding="utf-8"
    )
    python.chmod(0o755)
    assert run_elsewhere(python, ["sb3"], smoke=True) == [report]


def test_a_process_that_dies_is_a_row():
    (report,) = run_elsewhere(Path("/bin/false"), ["sb3"], smoke=True)
    assert report.rows[0].reason == "ended with code 1: "


@pytest.mark.slow
def test_a_client_that_hangs_is_ended_with_all_it_started(tmp_path, monkeypatch):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n(sleep 2; touch {tmp_path}/late) &\nsleep 60\n", encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setattr(virtual_environments, "_SMOKE_SECONDS", 1)
    (report,) = run_elsewhere(python, ["sb3"], smoke=True)
    assert report.rows[0].reason == "not finished within 1 s"
    time.sleep(1.5)
    assert not (tmp_path / "late").exists()


def test_an_update_replaces_the_reports_of_the_clients_that_ran(tmp_path):
    path = tmp_path / "verdicts.json"
    rllib, sb3, newer = failed("rllib", "old"), failed("sb3", "old"), failed("sb3", "new")
    assert replace_verdicts([rllib, sb3], path) == [sb3, rllib]
    assert replace_verdicts([newer], path) == read_verdicts(path) == [newer, rllib]
