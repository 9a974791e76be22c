"""Published figures, kept as data."""

import pytest

from benchmarks.experiments.published import _table, load_published


def test_the_figures_of_llmarena_are_consistent_with_each_other():
    tables = load_published("benchmarks.llmarena")
    normalised, raw = tables["T1_normalised"], tables["T4_raw_corrected"]
    best = [max(numbers[index] for numbers in raw.rows.values()) for index in range(7)]
    for model, numbers in raw.rows.items():
        # Raw values have two decimals, so that a quotient is known to about a per cent of a small best value.
        for printed, value, top in zip(normalised.rows[model], numbers, best, strict=False):
            assert printed == pytest.approx(100 * value / top, abs=0.6 / top + 0.05), model
    differing = [
        (model, index)
        for model, numbers in raw.rows.items()
        for index, value in enumerate(numbers)
        if tables["T4_raw"].rows[model][index] != value
    ]
    assert len(differing) == 4
    assert all(table.source.startswith("LLMArena (arXiv 2402.16499)") for table in tables.values())


def test_a_row_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="expected 2 numbers for a, got 1"):
        _table("T1", {"source": "x", "columns": ["x", "y"], "rows": {"a": [1.0]}})
