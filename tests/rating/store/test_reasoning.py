"""A model's reasoning before a reply: recorded, counted, shown on request, and no part of anything else."""

import csv
import io

import pytest

from rating.cli import main
from rating.store.export import write_csv
from tests.rating.runs import records_of
from tests.rating.viewer.report.test_report import directory, matches, page  # noqa: F401  fixtures

THOUGHT = "thought <script>alert(1)</script>"


@pytest.fixture
def records(directory):  # noqa: F811
    return records_of(directory)


def test_its_tokens_are_counted(records):
    file = io.StringIO()
    write_csv(records, file)
    rows = [row for row in csv.DictReader(io.StringIO(file.getvalue())) if row["policy"] != "random"]
    assert all(int(row["completion_tokens"]) == 2 * int(row["reasoning_tokens"]) > 0 for row in rows)


def test_the_terminal_shows_it_on_demand_only(capsys, directory, records):  # noqa: F811
    match = records[0].match.id
    assert main(["replay", str(directory), match]) == 0
    assert "thought" not in capsys.readouterr().out
    assert main(["replay", str(directory), match, "--raw"]) == 0
    assert f"--- thinks:\n{THOUGHT}" in capsys.readouterr().out


@pytest.mark.slow
def test_page_shows_reasoning_beside_the_reply(page):  # noqa: F811
    turns = [turn for match in matches(page) for turn in match["turns"]]
    thoughts = [attempt.get("reasoning", "") for turn in turns for attempt in turn["attempts"]]
    assert any(thought.startswith(THOUGHT) for thought in thoughts)
    assert "alert(1)" not in page
