"""Judge errors against the truth in the study of judges and its commands: errors, transport, power and planted biases."""

import json

import numpy as np
import pytest

from rating.cli import main
from rating.judge_biases import judge_biases
from rating.judge_errors import judge_errors, transport_between
from rating.judgements import Judgement
from rating.stats.estimates import Estimate
from rating.stats.judge_bias import POINTS, BiasTest, power
from rating.stats.simultaneous import benjamini_hochberg
from research.judge_biases import Setting, judgements


def rated(rng, judge, n, *, lift=0.0, part="", known=0.5):
    """Ratings of 1 to 10 of right and wrong items, some with truth."""
    found = []
    for item in range(n):
        truth = float(rng.random() < 0.6)
        rating = float(np.clip(round(2 + 7 * truth + lift + rng.normal()), 1, 10))
        right = (1.0 + 9.0 * truth) if rng.random() < known else None
        found.append(Judgement(f"{part} {item}", judge, rating, truth=right, part=part))
    return found


def test_judge_errors_of_ratings_are_corrected():
    rng = np.random.default_rng(0)
    fair, kind = judge_errors([*rated(rng, "fair", 300), *rated(rng, "kind", 300, lift=3.0)])
    assert kind.error.low > fair.error.high
    assert kind.score.judged.low > 0.68 and kind.score.corrected.low <= 0.6 <= kind.score.corrected.high
    assert fair.right is None and kind.parts == []


def test_judge_errors_of_verdicts_state_the_share_of_right_ones():
    rng = np.random.default_rng(1)
    truths = rng.choice(["A", "B"], 200)
    own = [Judgement(f"q{at}", "j", "A", truth=str(one) if at < 100 else None) for at, one in enumerate(truths)]
    (found,) = judge_errors(own)
    assert found.right.n == 100 and found.right.value == pytest.approx((truths[:100] == "A").mean())
    assert found.error.value == pytest.approx((truths[:100] == "B").mean()) and found.score is None
    assert judge_errors([one._replace(truth=None) for one in own]) == []


def test_transport_between_games_finds_a_judge_kinder_in_one():
    rng = np.random.default_rng(2)

    def judged(lift):
        return {"one": rated(rng, "j", 200), "other": rated(rng, "j", 200, lift=lift)}

    assert all(part.p > 0.05 for part in transport_between(judged(0.0))["j"])
    assert all(part.p < 0.05 for part in transport_between(judged(4.0))["j"])
    assert transport_between({"one": rated(rng, "j", 200)}) == {}


def test_benjamini_hochberg_matches_the_definition():
    values = [0.01, 0.04, 0.03, 0.005, 0.9]
    assert benjamini_hochberg(values) == pytest.approx([0.025, 0.05, 0.05, 0.025, 0.9])
    assert benjamini_hochberg([]) == []


def test_power_is_the_chance_to_reject():
    test = BiasTest(Estimate(0.5, None, None, 100, 100), 1.0, error=0.04)
    drawn = np.random.default_rng(0).normal(POINTS / 0.04, 1, 100_000)
    assert power(test, 0.05, POINTS) == pytest.approx((np.abs(drawn) > 1.959964).mean(), abs=0.01)
    assert power(test._replace(error=0.0), 0.05, POINTS) is None


def test_judge_biases_state_power_that_grows_with_items():
    few, many = (
        judge_biases(judgements(np.random.default_rng(0), Setting(items=items, both_orders=True)), {})["judge 1"]
        for items in (40, 400)
    )
    assert few.position.power < 0.5 < 0.8 < many.position.power
    assert 0 <= few.verbosity.power <= many.verbosity.power


@pytest.fixture
def verdicts(tmp_path):
    """A file of verdicts of two games with truth, by hostile names."""
    rng, rows = np.random.default_rng(5), []
    for game, lean in (("one", 0.0), ("two", 0.9)):
        for item in range(120):
            truth = str(rng.choice(["A", "B"]))
            for judge in ("<b>j</b>", "k", "m"):
                verdict = "A" if rng.random() < lean else truth
                row = {"environment": game, "item": f"q{item}", "judge": judge, "verdict": verdict}
                rows.append({**row, "task": f"t{item % 3}", "truth": truth if item < 80 else ""})
    path = tmp_path / "verdicts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_agreement_command_states_errors_and_transport(verdicts, capsys):
    assert main(["agreement", str(verdicts), "--environment", "two"]) == 0
    said = capsys.readouterr().out
    for title in ("Judges against the truth", "Transport between tasks", "Transport between environments"):
        assert title in said
    assert main(["agreement", str(verdicts), "--environment", "two", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["against_truth"][0]["right"]["n"] == 80
    assert {part["part"] for part in found["transport"]["k"]} == {"one", "two"}
    assert len(found["rater_model"]["judges"]) == 3


def test_agreement_wrong_truth_is_named_with_its_line(tmp_path, capsys):
    path = tmp_path / "bad.csv"
    path.write_text("item,judge,verdict,truth\nq1,j,A,B\nq2,j,A,7\n")
    assert main(["agreement", str(path)]) == 2
    assert "line 3: expected verdicts of one kind" in capsys.readouterr().err


def test_report_escapes_judges_with_errors(tmp_path, capsys):
    rows = [
        {"model_a": "x", "model_b": "y", "judge": "<script>1</script>", "winner": "model_a", "truth": "model_b"}
        | {"question_id": f"q{at}"}
        for at in range(40)
    ]
    (tmp_path / "v.json").write_text(json.dumps(rows))
    assert main(["report", str(tmp_path / "v.json"), "--output", str(tmp_path / "v.html")]) == 0
    page = (tmp_path / "v.html").read_text()
    assert "Judges against the truth" in page and "<script>1</script>" not in page


def test_report_has_transport_between_environments(tmp_path):
    rng = np.random.default_rng(6)
    rows = [
        {
            "environment": game,
            "item": f"q{at}",
            "judge": "j",
            "a": "x",
            "b": "y",
            "verdict": str(rng.choice(["A", "B"])),
        }
        | {"truth": str(rng.choice(["A", "B"]))}
        for game in ("one", "two")
        for at in range(40)
    ]
    (tmp_path / "v.json").write_text(json.dumps(rows))
    assert main(["report", str(tmp_path / "v.json"), "--output", str(tmp_path / "v.html")]) == 0
    assert "Transport between environments" in (tmp_path / "v.html").read_text()
