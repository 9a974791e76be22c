"""The published figures of Auto-Arena agree with each other, except where their notes say otherwise."""

import pytest

from benchmarks.auto_arena.correlation import correlate
from benchmarks.auto_arena.printed import AGREES, DIFFERS, NO_SCORES, correlation_table, scores, verdict
from benchmarks.experiments.published import load_published

TABLES = load_published("benchmarks.auto_arena")
BENCHMARKS = ["MMLU", "OpenLLM", "MT-Bench", "MT-Bench-Hard", "LC-AlpacaEval"]


def cells(key, human, *printed):
    """The lines of a table of correlations by benchmark and heading."""
    table = correlation_table(TABLES[key], human, [TABLES[each] for each in printed])
    headings = [column.heading for column in table.columns]
    return {line[0]: dict(zip(headings, line, strict=True)) for line in table.rows}


def test_every_printed_correlation_follows_from_the_printed_scores():
    seven = cells("T1_7models", "Arena, English, 2024-05-27", "T1_spearman")
    assert {name: line["agrees"] for name, line in seven.items()} == {
        **dict.fromkeys(BENCHMARKS, AGREES),
        "Auto-Arena": NO_SCORES,
    }
    seventeen = cells("T4_17models", "Arena", "T4_correlations", "T4_pearson", "concordance_17models")
    assert {name: line["agrees"] for name, line in seventeen.items()} == dict.fromkeys(
        [*BENCHMARKS, "Auto-Arena"], AGREES
    )
    assert seventeen["Auto-Arena"]["pairs in the same order, from the published scores"] == "72 / 78"
    chinese = cells("chinese_11models", "Arena, Chinese", "chinese_correlations", "chinese_pearson")
    assert chinese["Auto-Arena"]["agrees"] == AGREES
    assert chinese["Auto-Arena"]["pairs in the same order, from the published scores"] == "19 / 21"


def test_the_numbers_of_models_are_those_that_have_both_scores():
    def numbers(lines):
        found = [line["Spearman, %, from the published scores"] for line in lines.values()]
        return [cell and cell.n for cell in found]

    assert numbers(cells("T1_7models", "Arena, English, 2024-05-27", "T1_spearman")) == [7, 7, 6, 7, 5, None]
    assert numbers(cells("T4_17models", "Arena", "T4_correlations")) == [13, 8, 7, 10, 10, 13]


def test_printed_value_that_disagrees_with_its_scores_is_noted():
    computed = {"Spearman, %": 89.29, "Pearson": 0.5}
    assert verdict({"Spearman, %": 89.3}, computed) == AGREES
    assert verdict({"Spearman, %": 89.4}, computed) == DIFFERS
    assert verdict({"Spearman, %": 89.3, "Pearson": 0.51}, computed) == DIFFERS
    assert verdict({"Spearman, %": 89.3}, {}) == NO_SCORES


def test_means_of_the_lists_equal_the_notes():
    seventeen = list(scores(TABLES["T4_17models"], "Auto-Arena Elo").values())
    assert sum(seventeen) / 17 == pytest.approx(1002.00, abs=0.005)
    assert 18_000 - sum(seventeen) == pytest.approx(966.06, abs=0.005)
    eighteen = list(scores(TABLES["elo_18models"], "Auto-Arena Elo").values())
    assert sum(eighteen) / 18 == pytest.approx(1000, abs=0.00005)


def test_seven_of_seventeen_ratings_give_the_printed_correlation():
    human = scores(TABLES["T1_7models"], "Arena, English, 2024-05-27")
    names = {"mixtral-8x7b-instruct-v0.1": "mixtral-8x7b", "llama-2-70b-chat": "llama-2-70b"}
    elo = scores(TABLES["T4_17models"], "Auto-Arena Elo")
    found = correlate({model: elo[names.get(model, model)] for model in human}, human)
    assert (found.n, 100 * found.spearman) == (7, pytest.approx(96.43, abs=0.005))


def test_kappa_matrices_are_symmetric_with_noted_means():
    for key, mean in (("kappa_before", 0.095), ("kappa_after", 0.365)):
        rows = list(TABLES[key].rows.values())
        assert list(TABLES[key].rows) == TABLES[key].columns
        pairs = [(rows[a][b], rows[b][a]) for a in range(7) for b in range(a)]
        assert all(one == other for one, other in pairs)
        assert sum(one for one, _ in pairs) / 21 == pytest.approx(mean, abs=0.0005)
