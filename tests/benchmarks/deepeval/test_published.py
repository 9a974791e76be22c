"""The published figures of DeepEval, kept as data."""

import pytest

from benchmarks.experiments.published import load_published

TABLES = load_published("benchmarks.deepeval")
MATRICES = [key for key in TABLES if f"{key}_means" in TABLES]


@pytest.mark.parametrize("key", MATRICES)
def test_the_printed_means_agree_with_their_cells(key):
    matrix, means = TABLES[key], TABLES[f"{key}_means"]
    # A row is named by who comes first in it; idioms give the first number to the row, scores to the column.
    of_row, of_column = (0, 1) if "idiom" in key else (1, 0)
    for model, (as_row, as_column) in means.rows.items():
        rows = [cell[of_row] for pair, cell in matrix.rows.items() if pair.split(" | ")[0] == model]
        columns = [cell[of_column] for pair, cell in matrix.rows.items() if pair.split(" | ")[1] == model]
        assert as_row == pytest.approx(sum(rows) / len(rows), abs=0.0051)
        if as_column is not None:
            assert as_column == pytest.approx(sum(columns) / len(columns), abs=0.0051)


def test_published_matrices_are_six():
    assert len(MATRICES) == 6
