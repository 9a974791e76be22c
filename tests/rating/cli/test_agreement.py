"""``llmarena agreement``: on files and on a run, as tables and as JSON, and refused input."""

import csv
import io
import json
import random
import re

import pytest
from sklearn.metrics import cohen_kappa_score

from rating.cli import main

RUN = """
seed = 3
workers = 1
[stop]
matches = 6
min_matches = 6
max_matches = 6
[[environment]]
name = "debate_v0"
scheme = "duels"
options = { n_judges = 3, both_orders = true }
[environment.staff]
judge = ["<i>first</i>", "fair", "fair"]
[[policy]]
name = "strong"
spec = "debater:strength=3"
environments = ["debate_v0"]
[[policy]]
name = "weak"
spec = "debater"
environments = ["debate_v0"]
[[policy]]
name = "<i>first</i>"
spec = "constant"
rated = false
[[policy]]
name = "fair"
spec = "debater"
rated = false
[[environment]]
name = "tictactoe_v0"
[[policy]]
spec = "random"
environments = ["tictactoe_v0"]
[[policy]]
spec = "greedy"
environments = ["tictactoe_v0"]
"""


def agreement(capsys, *arguments, code=0):
    capsys.readouterr()
    assert main(["agreement", *map(str, arguments)]) == code
    captured = capsys.readouterr()
    return captured.err if code else captured.out


def write(path, rows):
    text = io.StringIO()
    csv.writer(text).writerows([("item", "judge", "verdict"), *rows])
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def test_a_file_as_json(tmp_path, capsys):
    rng = random.Random(4)
    verdicts = {judge: [rng.choice(["A", "B", "tie"]) for _ in range(50)] for judge in ("ann", "bob", "cy")}
    spelled = {"tie": ["tie", "Tie", "C", "平局"]}
    rows = [
        (item, judge, rng.choice(spelled.get(label, [label.lower(), label])))
        for judge, labels in verdicts.items()
        for item, label in enumerate(labels)
        if judge != "cy" or item < 20
    ]
    found = json.loads(agreement(capsys, "--json", write(tmp_path / "file.csv", rows)))
    assert {"pairs", "fleiss", "krippendorff", "items", "judges"} <= found.keys()
    assert (found["items"], found["judges"]) == (50, 3)
    assert [(pair["judges"], pair["n"], pair["few"]) for pair in found["pairs"]] == [
        (["ann", "bob"], 50, False),
        (["ann", "cy"], 20, True),
        (["bob", "cy"], 20, True),
    ]
    for pair in found["pairs"]:
        first, second = (verdicts[judge][: pair["n"]] for judge in pair["judges"])
        assert pair["kappa"] == pytest.approx(cohen_kappa_score(first, second))
        assert pair["agreement"] == pytest.approx(sum(map(str.__eq__, first, second)) / pair["n"])
    assert found["mean_of_pairs_with_enough"]["pairs"] == 1


def test_the_same_file_in_plain_words(tmp_path, capsys):
    rows = [(item, judge, "A" if item % 2 or judge == "ann" else "B") for item in range(40) for judge in ("ann", "bob")]
    printed = agreement(capsys, write(tmp_path / "file.csv", rows))
    assert "Every two judges" in printed and "With the majority" in printed
    assert "50.0 [35.2, 64.8] (40)" in printed
    assert "position bias not tested" in printed
    assert "favours" not in printed


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("q", "ann", "A"), ("r", "ann", "B")], "items: 2, judges: 1"),
        ([("q", "ann", "tie"), ("q", "bob", "C"), ("r", "ann", "Tie"), ("r", "bob", "平局")], "undefined (2)"),
        ([(item, judge, item % 5) for item in range(9) for judge in "ab"], "100.0 [70.1, 100.0] (9)"),
    ],
)
def test_files_with_one_judge_with_ties_only_and_with_numbers(tmp_path, capsys, rows, expected):
    path = write(tmp_path / "file.csv", rows)
    assert expected in agreement(capsys, path)
    json.loads(agreement(capsys, path, "--json"))


def test_several_files_are_one_study(tmp_path, capsys):
    paths = [write(tmp_path / f"{judge}.csv", [(item, judge, "A") for item in range(3)]) for judge in "ab"]
    assert json.loads(agreement(capsys, "--json", *paths))["pairs"][0]["n"] == 3
    assert "a.csv, line 2 already" in agreement(capsys, paths[0], paths[0], code=2)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("judged")
    (directory / "run.toml").write_text(RUN, encoding="utf-8")
    assert main(["run", str(directory / "run.toml"), "--out", str(directory / "run")]) == 0
    return directory / "run"


@pytest.mark.slow
def test_a_run_and_its_page(run, capsys):
    found = json.loads(agreement(capsys, run, "--json"))
    judges = {row["judge"]: row for row in found["by_judge"]}
    assert set(judges) == {"<i>first</i>", "fair", "fair (2)"}
    assert judges["<i>first</i>"]["same_in_both_orders"]["value"] == 0
    assert judges["<i>first</i>"]["position_bias"]["first_side"]["value"] == 1
    assert judges["fair"]["same_in_both_orders"]["value"] == 1
    assert (found["items"], found["before"]["fleiss"] is None) == (6, False)
    assert "decisions of the majority changed" in agreement(capsys, run)
    assert main(["report", str(run)]) == 0
    assert "expected an environment whose judges" in agreement(capsys, run, "--environment", "tictactoe_v0", code=2)
    assert "environment: expected one of" in agreement(capsys, run, "--environment", "debate", code=2)
    assert "expected one directory" in agreement(capsys, run, run, code=2)
    page = (run / "report.html").read_text(encoding="utf-8")
    assert '<h2 id="section Judges of debate_v0">' in page and "kappa before discussion" in page
    assert "Judges of tictactoe_v0" not in page
    assert "<i>first" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_agreement_refuses_invalid_input(tmp_path, capsys):
    empty = write(tmp_path / "empty.csv", [])
    assert "expected judgements with verdicts, got none" in agreement(capsys, empty, code=2)
    assert "none.csv: expected a file of results in UTF-8" in agreement(capsys, tmp_path / "none.csv", code=2)
    assert "expected the directory of a run" in agreement(capsys, tmp_path, code=2)
    assert "environment: expected one of 'empty'" in agreement(capsys, empty, "--environment", "debate_v0", code=2)
    assert "family: expected NAME=FAMILY" in agreement(capsys, empty, "--family", "x", code=2)
