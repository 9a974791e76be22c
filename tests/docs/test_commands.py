"""The commands and the code of the pages are ones that exist."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from benchmarks.auto_arena import __main__ as auto_arena
from benchmarks.deepeval import __main__ as deepeval
from benchmarks.llmarena import __main__ as llmarena
from benchmarks.simulbench import __main__ as simulbench
from rating.commands.arguments import build_parser
from rating.running.run_file import parse_run_file

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS = [
    pytest.param(line, id=f"{page.name}: {line}")
    for page in PAGES
    for line in re.findall(r"^llmarena .*$", page.read_text(encoding="utf-8"), re.MULTILINE)
]


def blocks(page, language):
    return re.findall(
        rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_is_one_that_the_command_line_knows(line):
    build_parser().parse_args(shlex.split(line)[1:])


def test_the_first_example_of_the_readme_plays_a_match():
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen):
        exec(compile(blocks("README.md", "python")[0], "README.md", "exec"), {})
    assert "You play X." in screen.getvalue()


def test_the_example_of_training_in_the_readme_plays_a_match_to_its_end():
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen):
        exec(compile(blocks("README.md", "python")[2], "README.md", "exec"), {})
    assert float(screen.getvalue()) == -1


def test_the_run_file_of_the_quickstart_is_valid():
    (text,) = blocks("docs/quickstart.md", "toml")
    assert parse_run_file(text, "quickstart").pool("tictactoe_v0") == ["greedy", "random", "tiny"]


@pytest.mark.parametrize(
    "paper",
    [llmarena.PAPER, deepeval.PAPER, auto_arena.PAPER, simulbench.PAPER],
    ids=lambda paper: paper.name,
)
def test_the_page_of_a_paper_lists_every_row_with_its_result(paper):
    page = (ROOT / "docs" / f"{paper.name}.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| row \|.*\n\|[-|]+\n((?:\|.*\n)+)", page, re.MULTILINE)
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == list(paper.rows)
    for row in re.findall(rf"\({paper.name}/([\w-]+)\.md\)", page):
        text = (ROOT / "docs" / paper.name / f"{row}.md").read_text(encoding="utf-8")
        assert text.startswith(f"## {row}: {paper.row(row).title}\n")
        for picture in re.findall(r"^!\[.*\]\((.*)\)$", text, re.MULTILINE):
            assert (ROOT / "docs" / paper.name / picture).exists()


def test_the_example_of_the_sandbox_gives_what_it_says():
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen):
        exec(compile(blocks("docs/sandbox.md", "python")[0], "docs/sandbox.md", "exec"), {})
    assert screen.getvalue() == "ok [3, 'ab']\nTrue\n"
