"""Differences between players who met the same cases."""

import pytest

from benchmarks.experiments.comparisons import PlayerComparison, comparison_table


def test_differences_by_group_with_corrected_p():
    better = PlayerComparison("a", "b", [(2.0, 1.0)] * 8, ["x", "x", *"cdefgh"])
    alike = PlayerComparison("a", "c", [(1.0, 0.0), (0.0, 1.0)], [0, 1])
    table = comparison_table([better, PlayerComparison("b", "c", [], []), alike], "points", "deal", notes=["a note"])
    (first, second) = table.rows
    assert first[:2] == ["a", "b"]
    assert (first[2].value, first[2].n, first[2].clusters, first[2].low) == (1.0, 8, 7, None)
    assert first[3:] == [7, 2 / 2**7, 4 / 2**7]
    assert second[3:] == [2, 1.0, 1.0]
    assert second[2].value == pytest.approx(0.0)
    assert table.notes[-1] == "a note"
    assert "all exchanges were tried" in table.notes[0]
    assert "except" not in table.notes[0]


def test_sampled_permutations_are_noted():
    many = PlayerComparison("a", "b", [(1.0, 0.0)] * 30, range(30))
    assert "except in 1 of 1 tests, where 10,000 were drawn" in comparison_table([many], "points", "match").notes[0]
