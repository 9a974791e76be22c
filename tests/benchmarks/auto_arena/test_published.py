"""The published figures of Auto-Arena agree with each other, but for what their notes say."""

import pytest

from benchmarks.auto_arena import ranking_7, ranking_17
from benchmarks.auto_arena.printed import AGREES, NO_SCORES, scores
from benchmarks.experiments.published import load_published
from rating.statistics.correlation import correlate

TABLES = load_published("benchmarks.auto_arena")


def cells(row, column):
    table = row.ROW.measure({}, row.ROW.options()).tables[0]
    index = [entry.heading for entry in table.columns].index(column)
    return {line[0]: line[index] for line in table.rows}


def test_every_printed_correlation_follows_from_the_printed_scores():
    benchmarks = ["MMLU", "OpenLLM", "MT-Bench", "MT-Bench-Hard", "LC-AlpacaEval"]
    assert cells(ranking_7, "agrees") == {**dict.fromkeys(benchmarks, AGREES), "Auto-Arena": NO_SCORES}
    assert cells(ranking_17, "agrees") == dict.fromkeys([*benchmarks, "Auto-Arena"], AGREES)


def test_the_numbers_of_models_are_those_that_have_both_scores():
    assert list(cells(ranking_7, "models with both scores").values()) == [7, 7, 6, 7, 5, None]
    assert list(cells(ranking_17, "models with both scores").values()) == [13, 8, 7, 10, 10, 13]


def test_the_printed_concordances_are_shares_of_pairs():
    chinese = TABLES["chinese_11models"]
    found = correlate(scores(chinese, "Auto-Arena Elo"), scores(chinese, "Arena, Chinese"))
    spearman, pearson, concordance = TABLES["chinese_correlations"].rows["Auto-Arena"]
    assert (found.n, found.alike, found.pairs) == (7, 19, 21)
    assert 100 * found.concordance == pytest.approx(concordance, abs=0.05)
    assert (100 * found.spearman, found.pearson) == (pytest.approx(spearman, abs=0.005), pytest.approx(pearson))


def test_the_kappa_matrices_are_symmetric_and_have_the_means_that_their_notes_say():
    for key, mean in (("kappa_before", 0.095), ("kappa_after", 0.365)):
        rows = list(TABLES[key].rows.values())
        assert list(TABLES[key].rows) == TABLES[key].columns
        pairs = [(rows[a][b], rows[b][a]) for a in range(7) for b in range(a)]
        assert all(one == other for one, other in pairs)
        assert sum(one for one, _ in pairs) / 21 == pytest.approx(mean, abs=0.0005)


def test_all_say_where_they_stand():
    assert all(table.source.startswith("Auto-Arena (arXiv 2405.20267)") for table in TABLES.values())
