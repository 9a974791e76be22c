"""Every study runs in its smallest size and prints tables."""

import itertools
import runpy
import sys

import pytest

STUDIES = (
    "adaptive_runs",
    "blame",
    "calibration",
    "coverage",
    "exploitability",
    "false_alarms",
    "games_to_order",
    "judge_biases",
    "judge_errors",
    "overlap",
    "paired_means",
    "stopping",
    "transitivity",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_study_smoke_run_prints_tables(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "--smoke"])
    for module in (f"research.{name}", f"research.{name}.__main__"):
        monkeypatch.delitem(sys.modules, module, raising=False)  # runpy warns of modules that are imported already
    runpy.run_module(f"research.{name}", run_name="__main__", alter_sys=True)
    lines = capsys.readouterr().out.splitlines()
    tables = [list(group) for is_row, group in itertools.groupby(lines, lambda line: line.startswith("|")) if is_row]
    assert tables
    for header, rule, *rows in tables:
        assert rule.strip("|-:") == ""
        assert rows
        assert {row.count("|") for row in rows} == {header.count("|")}
