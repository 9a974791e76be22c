"""The human audit: blind sheets, and figures of the filled-in ones."""

import csv
import json

import pytest

from benchmarks.experiments.command import main
from benchmarks.simulbench.__main__ import PAPER

WORDS = ("audit", "--smoke", "--judge", "exact", "noisy", "--workers", "1", "--alone", "--policy", "perfect", "echo")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Results of the row without any filled-in sheet."""
    directory = tmp_path_factory.mktemp("audit")
    assert main(PAPER, [*WORDS, "--out", str(directory)]) == 0
    return directory


def filled_in(out, path, opinions):
    (sheet,) = out.glob("audit-sheet-*.csv")
    lines = list(csv.reader(sheet.read_text(encoding="utf-8-sig").splitlines()))
    for line, opinion in zip(lines[1:], opinions, strict=True):
        line[-1] = opinion
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)
    return str(path)


def again(out, tmp_path, *sheets):
    """Computes the row from the played matches, with sheets."""
    words = [*WORDS, "--run", str(out / "audit"), "--out", str(tmp_path / "out"), "--sheet", *sheets]
    return main(PAPER, words)


@pytest.mark.slow
def test_audit_sheet_is_blind_and_complete(out):
    (sheet,), (text,) = out.glob("audit-sheet-*.csv"), out.glob("audit-judgements-*.md")
    shown = text.read_text(encoding="utf-8")
    rows = list(csv.DictReader(sheet.read_text(encoding="utf-8-sig").splitlines()))
    assert len(rows) == 6
    assert all(f"## Judgement {row['item']}" in shown and row["opinion"] == "" for row in rows)
    assert shown.count("Rating: [[") == 6  # the judges' own words
    for name in ("perfect", "echo", "exact", "noisy"):
        assert name not in sheet.read_text(encoding="utf-8")


@pytest.mark.slow
def test_opinions_are_counted_with_the_way_of_the_errors(out, tmp_path):
    one = filled_in(out, tmp_path / "ann.csv", ["reasonable", "R", "too high", "high", "low", "合理"])
    two = filled_in(out, tmp_path / "bob.csv", ["reasonable", "r", "r", "too high", "too high", "low"])
    assert again(out, tmp_path, one, two) == 0
    report = json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"))
    audit, judges, agreement = report["tables"]
    published, ann, bob, most = audit["rows"]
    assert published["reasonable, % (published)"] == 83
    assert ann["reasonable, % (measured)"]["value"] == pytest.approx(50)
    assert ann["reasonable, % (measured)"]["low"] is None  # six judgements of few tasks tell little
    assert (ann["too high (measured)"], ann["too low (measured)"]) == (2, 1)
    assert ann["too high, % of the errors (measured)"]["value"] == pytest.approx(200 / 3)
    assert (bob["too high (measured)"], bob["too low (measured)"]) == (2, 1)
    assert (most["who"], most["reasonable, % (measured)"]["value"]) == ("most people", pytest.approx(100 / 3))
    assert (most["too high (measured)"], most["too low (measured)"], most["divided (measured)"]) == (1, 0, 3)
    assert sum(row["judgements"] for row in judges["rows"] if row["who"] == "ann") == 6
    assert agreement["rows"][0]["the same opinion, % (measured)"]["value"] == pytest.approx(50)
