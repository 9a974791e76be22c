"""Published figures, kept as data, and the citations of the papers they are from."""

import re
from pathlib import Path
from typing import get_args

import pytest

from benchmarks.experiments.published import Kind, _table, load_published

ROOT = Path(__file__).parents[3]
PAPERS = {
    "llmarena": ("LLMArena", "2402.16499"),
    "deepeval": ("DeepEval", "2309.04369"),
    "auto_arena": ("Auto-Arena", "2405.20267v1"),
    "simulbench": ("SimulBench", "2409.07641"),
}
SECTIONS = {
    "2402.16499": {"2.4", "3.1", *(f"A.{number}" for number in range(1, 8))},
    "2309.04369": {"3.3", "3.7.1", "3.7.2", "3.7.3", "3.7.4", "4.1.2", "A.1"},
    "2405.20267v1": {"3", "3.1", "3.2", "3.3", "4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "5", "5.1"},
    "2405.20267v4": {"A", "A.1", "A.2", "A.3", "B", "C", "D", "E", "F", "G", "H"},
    "2409.07641": {"2", "2.2", "2.3", "2.4", "2.5", "4.3"},
}
"""Sections and appendices whose numbers were checked; others are not cited."""

NUMBER = r"(?:\d+|[A-H](?![\w']))(?:\.\d+)*"
CITED = re.compile(rf"\b(?:sections?|appendix)\s+({NUMBER}(?:(?:,| and| to)\s+(?:section\s+)?{NUMBER})*)")
NAMED = re.compile(r"arXiv\s+(\d{4}\.\d{5}(?:v\d)?)|(" + "|".join(name for name, _ in PAPERS.values()) + ")")


def cited_sections():
    """Yields file, paper and number of every section of a paper that is cited."""
    ids = dict(PAPERS.values())
    files = [path for suffix in ("py", "md", "json") for path in ROOT.glob(f"*/**/*.{suffix}")]
    for path in files:
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0].startswith(".") or (path.suffix == ".json" and path.name != "published.json"):
            continue
        text = path.read_text(encoding="utf-8")
        own = next((PAPERS[part][1] for part in parts if part in PAPERS), None)
        for cited in CITED.finditer(text):
            named = [*NAMED.finditer(text, max(0, cited.start() - 120), cited.start())]
            paper = (named[-1][1] or ids[named[-1][2]]) if named else own
            if paper in SECTIONS:
                for number in re.findall(NUMBER, cited[1]):
                    yield parts, paper, number


def test_the_figures_of_llmarena_are_consistent_with_each_other():
    tables = load_published("benchmarks.llmarena")
    normalised, raw = tables["T1_normalised"], tables["T4_raw_corrected"]
    best = [max(numbers[index] for numbers in raw.rows.values()) for index in range(7)]
    for model, numbers in raw.rows.items():
        # Raw values have two decimals, which determine a quotient to about a per cent of a small best value.
        for printed, value, top in zip(normalised.rows[model], numbers, best, strict=False):
            assert printed == pytest.approx(100 * value / top, abs=0.6 / top + 0.05), model
    differing = [
        (model, index)
        for model, numbers in raw.rows.items()
        for index, value in enumerate(numbers)
        if tables["T4_raw"].rows[model][index] != value
    ]
    assert len(differing) == 4


def test_a_row_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="expected 2 numbers for a, got 1"):
        _table("T1", {"source": "x", "kind": "text", "columns": ["x", "y"], "rows": {"a": [1.0]}})


@pytest.mark.parametrize("paper", PAPERS)
def test_every_published_table_names_paper_place_and_kind(paper):
    name, number = PAPERS[paper]
    for key, table in load_published(f"benchmarks.{paper}").items():
        assert re.match(rf"{name} \(arXiv {number}\), \w", table.source), key
        assert table.kind in get_args(Kind), key
        assert ("picture" in table.source) == (table.kind == "picture"), key


def test_a_table_of_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="T1: expected the kind text, picture, repository, computed, got None"):
        _table("T1", {"source": "x", "columns": ["x"], "rows": {"a": [1.0]}})


def test_cited_sections_of_the_papers_exist():
    cited = list(cited_sections())
    assert len(cited) > 50
    assert [each for each in cited if each[2] not in SECTIONS[each[1]]] == []
