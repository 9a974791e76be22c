"""The rows on judges and the human study: figures of one tournament, filled-in sheets, and refused input."""

import csv

import pytest

from benchmarks.auto_arena.__main__ import PAPER
from benchmarks.experiments.command import main
from benchmarks.experiments.runs import PlayedRun
from rating.judgements import declared_verdicts, judgements_of
from rating.stats.agreement import cohens_kappa

pytestmark = pytest.mark.slow

REAL = "domain,id,question\nmath,r1,What is 2 + 2?\nwriting,r2,Write a haiku.\ncoding,r3,Sort a list.\n"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The results of the row f3, whose tournament serves the others."""
    out = tmp_path_factory.mktemp("f3")
    assert main(PAPER, ["f3", "--per-pairing", "4", "--out", str(out)]) == 0
    return out


def row(name, played, out, *more, code=0):
    assert main(PAPER, [name, "--run", str(played / "f3"), "--out", str(out), *map(str, more)]) == code


def table(out, name):
    return list(csv.DictReader((out / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


def test_measured_kappas_follow_from_the_verdicts(played, tmp_path, capsys):
    row("f4", played, tmp_path)  # another name of f3
    run = PlayedRun(played / "f3" / "tournament")
    said = {
        (one.item, one.judge): one.final
        for one in judgements_of(run.outcomes("debate_v0"), declared_verdicts("debate_v0"))
    }
    items = sorted({item for item, _ in said})
    lines = {line["judges"]: line for line in table(tmp_path, "f3-pairs")}
    assert len(lines) == 21
    first, second = ([said.get((item, judge)) for item in items] for judge in ("ash", "beech"))
    found = cohens_kappa(first, second)
    assert float(lines["ash and beech"]["after discussion (measured)"]) == pytest.approx(found.kappa.value, abs=1e-6)
    assert lines["ash and beech"]["remark"] == "fewer than 30 battles"
    majority = table(tmp_path, "f3-majority")
    assert [line["player"] for line in majority][:2] == ["GPT-4", "Claude-3-haiku"] and len(majority) == 14
    assert (tmp_path / "f3-measured.png").read_bytes() == (played / "f3-measured.png").read_bytes()


def test_judge_that_is_also_a_model_shares_one_line(played, tmp_path, capsys):
    row("f3", played, tmp_path, "--same", "Yi=ash")
    line = next(line for line in table(tmp_path, "f3-majority") if line["player"] == "Yi = ash")
    assert line["before discussion (published)"] == "0.088"
    assert line["before discussion (measured)"] and line["with that of the others, after discussion (measured)"]


def test_agreement_both_ways(played, tmp_path, capsys):
    row("t3", played, tmp_path)
    lines = table(tmp_path, "t3-agreement")
    assert [line["agreement, % (published)"] for line in lines] == ["48", "68", "67"]
    before, after, people = (line["pooled over pairs of verdicts, % (measured)"] for line in lines)
    assert 0 < float(before) < float(after) <= 100 and people == ""
    assert next(line["judge"] for line in table(tmp_path, "t3-changes")) == "all"


def fill(sheet, path, labels):
    rows = list(csv.reader(sheet.read_text(encoding="utf-8-sig").splitlines()))
    for index, line in enumerate(rows[1:]):
        line[-1] = labels[index % len(labels)]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def test_sheets_are_blind_and_read_back(played, tmp_path, capsys):
    (tmp_path / "real.csv").write_text(REAL, encoding="utf-8")
    study = ("--battles", 12, "--real", tmp_path / "real.csv")
    row("human", played, tmp_path, *study)
    (sheet,) = tmp_path.glob("human-sheet-*.csv")
    (debates,) = tmp_path.glob("human-debates-*.md")
    (asked,) = tmp_path.glob("human-questions-*.csv")
    shown = sheet.read_text(encoding="utf-8") + debates.read_text(encoding="utf-8")
    for name in ("ash", "beech", "cedar", "dogwood", "ginkgo", "level_1"):
        assert name not in shown.lower().split(), name
    assert "[[" not in shown and "this turn has room" not in shown.lower()
    order = [line[0] for line in csv.reader(sheet.read_text(encoding="utf-8-sig").splitlines())][1:]
    assert len(order) == 12 and order != sorted(order)

    ann, bob = fill(sheet, tmp_path / "ann.csv", ["A", " Tie", "B"]), fill(sheet, tmp_path / "bob.csv", ["A", "C", "A"])
    told = fill(asked, tmp_path / "told.csv", ["real"])
    row("human", played, tmp_path, *study, "--sheet", ann, bob, "--question-sheet", told)
    lines = {line["who"]: line for line in table(tmp_path, "human-agreement")}
    assert list(lines) == [
        "ann and bob",
        "ann and committee after discussion",
        "ann and committee before discussion",
        "bob and committee after discussion",
        "bob and committee before discussion",
        "most people and committee after discussion",
        "most people and committee before discussion",
    ]
    assert float(lines["ann and bob"]["same verdict, % (measured)"]) == pytest.approx(100 * 2 / 3, abs=1e-4)
    assert {line["debates that both judged"] for line in lines.values()} == {"12"}
    counts = {
        line["who"]: [line[label] for label in ("A", "tie", "B", "none")] for line in table(tmp_path, "human-verdicts")
    }
    assert counts["ann"] == ["4", "4", "4", "0"] and counts["most people"] == ["4", "8", "0", "0"]
    (line,) = table(tmp_path, "human-questions")
    assert float(line["told right, % (measured)"]) == 50
