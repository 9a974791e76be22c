"""The site: generated pages are up to date, links resolve, and the checks find the faults of a built site."""

import re
import shlex

import pytest

import build_pages
import build_site
from llmarena_envs.catalogue import NAMES
from rating.cli.app import build_parser
from site_builder import assemble, games
from site_builder.check import problems
from site_builder.examples import EXAMPLES
from tests.docs.pages import DOCS

ROOT = DOCS.parent
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
CODE = re.compile(r"^(```+).*?^\1$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", build_pages.pages())
def test_pages_that_are_made_of_the_code_are_up_to_date(page):
    expected = build_pages.pages()[page]
    assert (DOCS / page).read_text(encoding="utf-8") == expected, "run python docs/build_pages.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files(page):
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    missing = [link for link in LINK.findall(text) if not (page.parent / link).exists()]
    assert not missing


def test_navigation_has_every_page_once():
    assemble.check_navigation(DOCS)


def test_a_page_that_is_not_in_the_navigation_is_named(tmp_path):
    (tmp_path / "forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"missing: \['forgotten.md'\], unknown: \['adding_a_rating_method.md'"):
        assemble.check_navigation(tmp_path)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_page_shows_turns_of_the_match_of_its_command(language):
    match = games.play_example("bid_v0", language)
    first, second = match.turns
    assert (first.index, second.agent) == (EXAMPLES["bid_v0"].shown, "player_1")
    assert first.played in first.attempts[0].reply
    assert match.picture.startswith("<svg")
    words = shlex.split(match.command.replace("\\\n", ""))
    assert f"language={language}" in words
    build_parser().parse_args(words[1:])


@pytest.mark.parametrize("name", NAMES)
def test_every_game_has_a_ladder_and_the_command_that_played_it(name):
    ladders = games.ladders_of(name)
    assert ladders
    for ladder in ladders:
        arguments = build_parser().parse_args(shlex.split(ladder["command"])[1:])
        paper = str(arguments.run_file).removesuffix("-demo").replace("-", "_")
        assert name in (ROOT / "benchmarks" / paper / "demo.toml").read_text(encoding="utf-8")
        assert all(len(row) == len(ladder["header"]) for row in ladder["rows"])


def page(head="<title>A page</title>", body=""):
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"


def test_a_site_without_mistakes_has_no_problems(tmp_path):
    links = '<a href="b/c.html#there">c</a><a href="https://pettingzoo.farama.org">outside</a><a href="#here">h</a>'
    (tmp_path / "index.html").write_text(page(body=f'<p id="here">{links}</p><img src="b/d.svg">'), encoding="utf-8")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "c.html").write_text(page(body='<p id="there"><a href="..">up</a>'), encoding="utf-8")
    (tmp_path / "b" / "d.svg").write_text("<svg/>", encoding="utf-8")
    (tmp_path / "b" / "e.css").write_text("p { background: url(d.svg), url(data:image/png;base64,) }", encoding="utf-8")
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("head", "body", "problem"),
    [
        ("", "", "expected a title, got none"),
        (None, '<a href="gone.html">x</a>', "gone.html leads nowhere"),
        (None, '<a href="../secret">x</a>', "../secret leads nowhere"),
        (None, '<a href="#gone">x</a>', "#gone: no such anchor"),
        (None, '<img src="https://example.com/x.png">', "asks for https://example.com/x.png, which is outside"),
        (None, '<script src="//cdn.example.com/x.js"></script>', "asks for //cdn.example.com/x.js, which is outside"),
        (
            None,
            "<style>@import 'https://example.com/x.css';</style>",
            "asks for https://example.com/x.css, which is outside",
        ),
        (None, '<p style="background: url(http://example.com/x)">', "asks for http://example.com/x, which is outside"),
        (None, '<pre class="mermaid">a</pre>', "class 'mermaid' makes the theme load something"),
    ],
)
def test_faults_of_a_page_are_found(tmp_path, head, body, problem):
    text = page(body=body) if head is None else page(head, body)
    (tmp_path / "index.html").write_text(text, encoding="utf-8")
    assert problems(tmp_path) == [f"index.html: {problem}"]


def test_fonts_of_style_sheets_from_outside_are_found(tmp_path):
    (tmp_path / "index.html").write_text(page(), encoding="utf-8")
    (tmp_path / "a.css").write_text('@font-face { src: url("https://fonts.example.com/x") }', encoding="utf-8")
    assert problems(tmp_path) == ["a.css: asks for https://fonts.example.com/x, which is outside"]


def test_folder_with_other_files_is_not_replaced(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="expected a new folder, an empty one or one with an older site"):
        build_site.build(tmp_path)
    assert (tmp_path / "thesis.tex").exists()
