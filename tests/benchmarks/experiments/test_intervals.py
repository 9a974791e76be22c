"""All rows at their smallest size: their intervals, and the same files from their runs."""

import importlib
import json
import re

import pytest

from benchmarks.experiments.command import main
from rating.stats.estimates import FEWEST_CLUSTERS

ELO = {"ratings", "certainty", "raw"}
"""Ratings have no scale, and a prior that few matches suffice for."""

SIGNED = re.compile("points|change|Spearman|difference")


def scale(heading):
    """Returns the least and the greatest value of a column of percentages."""
    return (-100 if SIGNED.search(heading) else 0), 100


def intervals(report):
    """Yields table, heading, and figure with its interval."""
    for table in report["tables"]:
        for row in table["rows"]:
            for heading, cell in row.items():
                if isinstance(cell, dict) and (cell["low"] is not None or cell["high"] is not None):
                    yield table["name"], heading, cell


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paper", "language"), [("llmarena", "zh"), ("deepeval", "zh"), ("auto_arena", "en"), ("simulbench", "en")]
)
def test_rows_at_smoke_size_have_sound_intervals_and_rerun_alike(paper, language, tmp_path):
    module = importlib.import_module(f"benchmarks.{paper}.__main__")
    words = ["all", "--smoke", "--language", language]
    assert main(module.PAPER, [*words, "--out", str(tmp_path / "out")]) == 0
    made = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.is_file()}
    reports = [json.loads(content) for name, content in made.items() if name.endswith(".json")]
    found = [(report["row"], *one) for report in reports for one in intervals(report)]
    assert found
    for row, table, heading, cell in found:
        where = f"{row}, {table}, {heading}: {cell}"
        if table.partition("-")[0] not in ELO:
            assert cell["n"] >= FEWEST_CLUSTERS, where
        if "%" in heading:
            least, most = scale(heading)
            assert least <= cell["low"] <= cell["value"] <= cell["high"] <= most, where
    assert main(module.PAPER, [*words, "--run", str(tmp_path / "out"), "--out", str(tmp_path / "again")]) == 0
    for name, content in made.items():
        assert (tmp_path / "again" / name).read_bytes() == content, name
