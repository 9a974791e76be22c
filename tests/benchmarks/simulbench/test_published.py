"""The published figures of SimulBench agree with each other, except where their notes say otherwise."""

import pytest

from benchmarks.experiments.published import load_published

TABLES = load_published("benchmarks.simulbench")
SCRIPTS = {name: numbers[0] for name, numbers in TABLES["scripts"].rows.items()}
WHOLES = {
    "Hard": ("FirstChan", "SubseqChan"),
    "All": ("LastOnly", "FirstChan", "SubseqChan"),
    "FirstChan": ("Stateless", "Stateful"),
}


@pytest.mark.parametrize("model", list(TABLES["T4"].rows))
def test_scores_of_whole_subsets_follow_from_their_parts(model):
    scores = dict(zip(TABLES["T4"].columns, TABLES["T4"].rows[model], strict=True))
    for whole, parts in WHOLES.items():
        mean = sum(SCRIPTS[part] * scores[part] for part in parts) / sum(SCRIPTS[part] for part in parts)
        assert mean == pytest.approx(scores[whole], abs=0.0101)  # parts and whole are rounded to 0.01


def test_sizes_of_subsets_add_up():
    for whole, parts in WHOLES.items():
        assert SCRIPTS[whole] == sum(SCRIPTS[part] for part in parts)
    tasks = {kind: numbers[0] for kind, numbers in TABLES["tasks"].rows.items()}
    assert tasks["all"] == tasks["stateless"] + tasks["stateful"] == TABLES["dialogues"].rows["all"][0] / 3


def test_pair_counts_match_printed_percentages():
    for pair, counts in TABLES["T1_counts"].rows.items():
        assert sum(counts) == SCRIPTS["Hard"]
        shares = [100 * count / 275 for count in counts]
        assert [*shares, shares[0] - shares[2]] == pytest.approx(TABLES["T1"].rows[pair], abs=0.0101)


def test_the_claims_that_the_table_does_not_support():
    rows = {model: dict(zip(TABLES["T4"].columns, scores, strict=True)) for model, scores in TABLES["T4"].rows.items()}
    assert len(rows) == 12
    declines = {model: scores["All"] - scores["Hard"] for model, scores in rows.items()}
    assert declines["Mixtral-8x7B-Instruct-v0.1"] == pytest.approx(0.71)
    for model, decline in (("LLaMA-3-8B-Chat", 0.81), ("Mixtral-8x22B-Instruct-v0.1", 0.85)):
        assert declines[model] == pytest.approx(decline)
        assert rows[model]["All"] > rows["Mixtral-8x7B-Instruct-v0.1"]["All"]
    mixtral = rows["Mixtral-8x7B-Instruct-v0.1"]
    assert mixtral["Stateful"] > mixtral["Stateless"]
    assert len(TABLES["T2_hardest_stateless"].rows) == 11
    assert {
        len(TABLES[f"T2_{name}"].rows) for name in ("simplest_stateless", "simplest_stateful", "hardest_stateful")
    } == {10}
