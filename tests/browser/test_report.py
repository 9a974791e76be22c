"""The report in a real browser: needs ``chromium`` on the path, so it is run apart from the other tests."""

import asyncio
import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from html import escape

import pytest
from playwright.sync_api import expect

from rating.play import run_directory
from rating.play.runner import Runner
from rating.viewer.report.write import write_report
from tests.browser.stories_env import MARKUP
from tests.rating.viewer.report.test_report import RUN

CHROMIUM = [
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
]


def played(directory, run_file):
    """Plays a run and returns its first match; in a thread of its own, as the browser of other tests has a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_played, directory, run_file).result()


def _played(directory, run_file):
    run, store = run_directory.create(directory, run_file, "run.toml")
    with closing(store):
        asyncio.run(Runner(run, store).run())
        return next(store.records()).match


def looked_at(folder, match):
    """Returns the report as the browser has built it, with a match shown."""
    report = write_report(folder / "run", folder / "report.html")
    url = f"{report.as_uri()}#match={match.id}"
    command = [*CHROMIUM, f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", url]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def drawn(shown):
    """Returns caption and description of each position on the page; asserts that every picture is a data URI."""
    found = re.findall(r'<img src="data:image/svg\+xml,[^"<>]*" alt="([^"]*)"><figcaption[^>]*>([^<]*)<', shown)
    assert len(found) == shown.count("<img")
    return [(caption, words) for words, caption in found]


def test_a_match_is_shown_turn_by_turn_and_hostile_text_stays_text(tmp_path):
    shown = looked_at(tmp_path, played(tmp_path / "run", RUN))
    assert "20 matches" in shown
    assert 'class="turn"' in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert drawn(shown) == [("At the beginning", "Tic-tac-toe: X: player_0 to move; O: player_1; _|_|_; _|_|_; X|_|O")]
    assert "forfeit by" in shown
    assert "<summary>what was thought before it</summary><pre>thought &lt;script&gt;" in shown


def test_positions_are_stepped_with_the_turns(browser, tmp_path):
    match = played(tmp_path / "run", RUN.replace("tests.rating.players:hostile", "first_legal"))
    report = write_report(tmp_path / "run", tmp_path / "report.html")
    with browser.new_page() as page:
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{report.as_uri()}#match={match.id}")
        figure = page.locator("figure", has=page.get_by_role("slider", name="Turns played"))
        page.get_by_role("button", name="Next", exact=True).click()
        page.get_by_role("slider").press("ArrowRight")
        assert "After turn 2 of" in figure.inner_text() and "of player_1" in figure.inner_text()
        assert [page.locator(".turn").nth(k).get_attribute("class") for k in range(3)] == [
            "turn",
            "turn chosen",
            "turn",
        ]
        page.locator(".turn a").first.click()
        expect(figure).to_contain_text("After turn 1 of")
        picture = figure.locator("img")
        expect(picture).to_have_attribute("alt", re.compile("player_1 to move"))
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
        page.get_by_role("button", name="Play", exact=True).click()
        expect(figure).to_contain_text("After turn 2 of")
        page.get_by_role("button", name="Pause", exact=True).click()
        page.get_by_role("slider").press("End")
        assert page.get_by_role("button", name="Next", exact=True).is_disabled()
        page.locator("summary", has_text="As data").click()
        data = json.loads(page.locator("details", has_text="As data").locator("pre").inner_text())
        assert [turn["agent"] for turn in data["turns"][:2]] == ["player_0", "player_1"]
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


STORY_RUN = """
seed = 1
workers = 1
[stop]
min_matches = 1
max_matches = 1
[[environment]]
name = "tests.browser.stories_env"
[[policy]]
name = "half <b>"
spec = "random"
[[policy]]
spec = "first_legal"
"""


def test_hostile_transcript_is_shown_as_text(tmp_path):
    match = played(tmp_path / "run", STORY_RUN)
    shown = looked_at(tmp_path, match)
    assert "<title>run - llmarena report</title>" in shown
    assert drawn(shown) == [("At the beginning", escape(MARKUP, quote=False).replace("<", "&lt;") + r": \u202e")]
    assert shown.count("<script") == shown.count("</script") == 3
    scenes = re.findall(r'<div class="(scene[^"]*)".*?>(.*?)</div>', shown, re.DOTALL)
    assert [style for style, _ in scenes] == ["scene told", "scene", "scene hidden", "scene"]
    question, answer, thought, long = (content for _, content in scenes)
    assert escape(MARKUP, quote=False) in question and "\n&amp;lt;b&amp;gt;" in question
    assert r"the verdict is \u202e]]A[[\u202c \u2066aside\u001b[2J" in answer
    assert '<span class="mark">hidden from player_1</span>' in thought and escape(MARKUP, quote=False) in thought
    assert len(long) > 1_000_000 and "the end" in long
    policies = re.findall(r'<b>player_\d</b> <span class="dim">(.*?)</span>', shown)
    assert sorted(set(policies)) == ["first_legal", "half &lt;b&gt;"]
    assert "<h4>Round 1</h4>" in shown


DEBATE_RUN = """
seed = 1
workers = 1
[stop]
min_matches = 1
max_matches = 1
[[environment]]
name = "debate_v0"
scheme = "duels"
[environment.staff]
judge = ["constant", "tests.browser.hostile_debater:judge"]
[environment.options]
n_judges = 2
[[policy]]
name = "hostile"
spec = "tests.browser.hostile_debater:debater"
[[policy]]
spec = "debater"
"""


def test_hostile_debate_is_shown_as_text(tmp_path):
    match = played(tmp_path / "run", DEBATE_RUN)
    shown = looked_at(tmp_path, match)
    assert "<title>run - llmarena report</title>" in shown
    assert len(drawn(shown)) == 1 and shown.count("<script") == shown.count("</script") == shown.count("<script nonce")
    hostile = re.findall(r'<b>debater_\d</b> <span class="dim">hostile</span>(.*?)</div>', shown, re.DOTALL)
    assert all(escape(MARKUP, quote=False) in scene for scene in hostile) and len(hostile) == 7
    assert all(r"\u202e" in scene and "\u202e" not in scene for scene in hostile)
    assert 'class="mark">cut at the limit<' in hostile[-1]
    judged = re.findall(r"<b>judge_1</b>.*?</div>", shown, re.DOTALL)
    assert len(judged) == 2 and all("verdict: B" in scene and escape(MARKUP, quote=False) in scene for scene in judged)
    assert "1 for A, 1 for B, 0 for a tie, 0 without a verdict: tie" in shown


def test_long_names_fit_a_phone_and_keyboard_selects_a_match(browser, tmp_path):
    long = (
        RUN.replace("tests.rating.players:hostile", "first_legal")
        + f'[[policy]]\nname = "{"n" * 200}"\nspec = "random"\n'
    )
    played(tmp_path / "run", long)
    report = write_report(tmp_path / "run", tmp_path / "report.html")
    with browser.new_page(viewport={"width": 390, "height": 844}) as page:
        page.goto(f"{report.as_uri()}#matches")
        page.locator("#policy").select_option("n" * 200)
        page.locator("#list a").first.press("Enter")
        page.locator("#match h3").wait_for()
        assert "n" * 200 in page.locator("#match h3").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


FIRST_SCREEN = """
seed = 4
workers = 1
[stop]
rule = "trueskill"
min_matches = 24
max_matches = 24
matches = 6
[[environment]]
name = "tictactoe_v0"
[[environment]]
name = "bid_v0"
[[policy]]
spec = "random"
[[policy]]
name = "<img src=x onerror=alert(1)>"
spec = "first_legal"
[[policy]]
name = "other first"
spec = "first_legal"
"""


@pytest.fixture(scope="module")
def first_screen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    played(folder / "run", FIRST_SCREEN)
    return write_report(folder / "run", folder / "report.html").as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_first_screen_holds_the_answer_and_the_first_rows(browser, first_screen, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    with context, context.new_page() as page:
        page.goto(first_screen)
        shown = [page.locator(".answer").first, *page.locator("#overview tbody tr").all()]
        assert len(shown) == 4 and "Over all games" in shown[0].inner_text()
        boxes = [one.bounding_box() for one in shown]
        assert all(box["y"] + box["height"] <= 800 for box in boxes)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
        drawn = "figure .fig-paper rect", "figure .fig-ink text"
        fills = [page.locator(one).first.evaluate("shape => getComputedStyle(shape).fill") for one in drawn]
        assert fills == [paper, page.evaluate("getComputedStyle(document.body).color")]


def test_tables_are_sorted_by_any_heading_and_by_keyboard(browser, first_screen):
    def column(number):
        return [row.locator("td").nth(number).inner_text() for row in page.locator("#overview tbody tr").all()]

    with browser.new_page() as page:
        page.goto(first_screen)
        before, heading = column(1), page.locator("#overview th button", has_text="policy")
        heading.press("Enter")
        assert column(1) == sorted(before, key=str.lower)
        assert page.locator("#overview th[aria-sort=ascending]").inner_text() == "policy"
        heading.press("Enter")
        assert column(1) == sorted(before, key=str.lower, reverse=True)
        heading.press("Enter")
        assert column(1) == before
        page.locator("#overview th button", has_text="score").click()
        scores = [float(text.partition(" ")[0]) for text in column(2)]
        assert scores == sorted(scores)


def test_parts_of_the_page_are_chosen_by_the_address(browser, first_screen):
    failures = []
    with browser.new_page() as page:
        page.on("pageerror", lambda error: failures.append(error))
        page.goto(first_screen)
        assert page.locator(".tab:visible").get_attribute("data-tab") == "tab Games"
        page.locator("#tabs a", has_text="Pairs").press("Enter")
        expect(page.locator(".tab:visible")).to_have_attribute("data-tab", "tab Pairs")
        assert page.url.endswith("#tab%20Pairs")
        page.go_back()
        expect(page.locator("#tabs [aria-current]")).to_have_text("Games")
        for fragment, tab in [
            ("section%20Seats%3A%20bid_v0", "tab Games"),
            ("matches", "matches"),
            ("policy=random", "matches"),
            ("tab%20Methods", "tab Methods"),
        ]:
            page.goto("about:blank")
            page.goto(f"{first_screen}#{fragment}")
            expect(page.locator(".tab:visible")).to_have_attribute("data-tab", tab)
        for fragment in ("%E0%A4%A", "tab%20Nothing", "section%20Nothing"):
            page.goto("about:blank")
            page.goto(f"{first_screen}#{fragment}")
            assert page.locator(".tab:visible").get_attribute("data-tab") == "tab Games"
    assert failures == []


def test_print_without_javascript_shows_folded_definitions_in_light_colours(browser, first_screen):
    with browser.new_context(java_script_enabled=False, color_scheme="dark") as context, context.new_page() as page:
        page.goto(first_screen)
        definition = page.locator("details.notes li").first
        assert not definition.is_visible()
        page.emulate_media(media="print")
        assert definition.is_visible()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
