"""The ablation of the user: drift and variance on known figures, and a planted effect in a run."""

import json

import pytest

from benchmarks.experiments.command import main
from benchmarks.simulbench.__main__ import PAPER
from benchmarks.simulbench.dynamic_users import Scored, difficulties, score_table, variance_table, variances

WORDS = (
    "dynamic",
    "--smoke",
    "--number",
    "6",
    "--workers",
    "1",
    "--alone",
    "--policy",
    "perfect",
    "silent",
    "flawed:hard=1",
)


def scored(simulator, source, task, *scores):
    return [Scored(simulator, source, task, f"{task} {source}", score) for score in scores]


def test_drift_is_what_all_get_on_the_requests_of_one_task_by_task():
    scores = [
        *scored("a", "a", "t", 4, 6),
        *scored("b", "a", "t", 5),
        *scored("a", "b", "t", 9),
        *scored("a", "a", "u", 2),
        *scored("a", "b", "u", 2),
        *scored("a", "b", "only b", 1),
    ]
    drift = difficulties(scores)
    assert (drift["a"].value, drift["b"].value) == pytest.approx((-1, 1))  # 5 against 9, and 2 against 2
    assert drift["a"].n == 2


def test_variance_is_within_the_same_item():
    scores = [
        *scored("a", "a", "t", 4, 6),
        *scored("a", "b", "t", 9, 9),
        *scored("a", "a", "u", 1, 3, 5),
        *scored("a", "a", "v", 7),
    ]
    assert variances(scores) == {"t": 1, "u": 4}  # variances 2 and 0 of the two cases of t; v is not repeated
    dynamic = [*scored("a", "a", "t", 1, 9), *scored("a", "a", "u", 5, 5)]
    ((_, live, still, change),) = variance_table(dynamic, scores).rows
    assert (live.value, still.value, change.value) == pytest.approx((16, 2.5, 13.5))
    assert still.low is change.low is None  # two tasks say next to nothing
    ((_, live, still, change),) = score_table(dynamic, scores).rows
    assert change.value == pytest.approx(((5 - 7) + (5 - 3)) / 2)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Results of three simulators: right, silent, and wrong on odd requests only."""
    directory = tmp_path_factory.mktemp("dynamic")
    assert main(PAPER, [*WORDS, "--out", str(directory)]) == 0
    return directory


def table(out, name, key):
    report = json.loads((out / "dynamic.json").read_text(encoding="utf-8"))
    rows = next(each["rows"] for each in report["tables"] if each["name"] == name)
    return {row[key]: {title.removesuffix(" (measured)"): cell for title, cell in row.items()} for row in rows}


@pytest.mark.slow
def test_the_user_asks_the_good_for_harder_things_than_the_bad(out):
    rows = table(out, "difficulty", "dialogues of")
    harder = {name: row["requests for something harder, %"]["value"] for name, row in rows.items()}
    assert (harder["perfect"], harder["silent"]) == (100, 0)
    assert 0 < harder["flawed:hard=1"] < 100
    drift = {name: row["the same less the mean of all dialogues, points"]["value"] for name, row in rows.items()}
    assert drift["perfect"] < 0 < drift["silent"]


@pytest.mark.slow
def test_equal_answers_have_no_variance(out):
    rows = table(out, "variance", "simulator")
    assert rows["perfect"]["with the user"]["value"] == rows["silent"]["on fixed scripts"]["value"] == 0
    assert rows["flawed:hard=1"]["on fixed scripts"]["value"] == 0  # it errs on every odd request, and on no other


@pytest.mark.slow
def test_dialogues_alone_are_refused(out, tmp_path, capsys):
    assert main(PAPER, [*WORDS, "--run", str(out / "dynamic" / "dialogues"), "--out", str(tmp_path)]) == 2
    assert "scripts" in capsys.readouterr().err
    assert not (tmp_path / "dynamic.json").exists()
