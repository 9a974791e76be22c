"""The page of a paper lists every row of it, with its result and its pictures."""

import re

import pytest

from benchmarks.auto_arena import __main__ as auto_arena
from benchmarks.deepeval import __main__ as deepeval
from benchmarks.llmarena import __main__ as llmarena
from benchmarks.simulbench import __main__ as simulbench
from tests.docs.pages import DOCS


@pytest.mark.parametrize(
    "paper", [llmarena.PAPER, deepeval.PAPER, auto_arena.PAPER, simulbench.PAPER], ids=lambda paper: paper.name
)
def test_the_page_of_a_paper_lists_every_row_with_its_result(paper):
    page = (DOCS / f"{paper.name}.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| row \|.*\n\|[-|]+\n((?:\|.*\n)+)", page, re.MULTILINE)
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == list(paper.rows)
    for row in re.findall(rf"\({paper.name}/([\w-]+)\.md\)", page):
        text = (DOCS / paper.name / f"{row}.md").read_text(encoding="utf-8")
        assert text.startswith(f"## {row}: {paper.row(row).title}\n")
        for picture in re.findall(r"^!\[.*\]\((.*)\)$", text, re.MULTILINE):
            assert (DOCS / paper.name / picture).exists()
