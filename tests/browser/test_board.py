"""The board in a real browser, beside a run of another process: the open page updates, and no hostile script runs."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.browser.conftest import PATIENCE
from tests.browser.considerate import PACE, allow
from tests.rating.viewer.web.test_board import HOSTILE
from tests.rating.viewer.web.test_board import RUN as SHORT_RUN

ROOT = Path(__file__).parents[2]
WAIT = PATIENCE * 1000
A_MATCH = 21
"""Moves of one player that end any match of connect four."""

RUN = """
seed = 4
workers = 1
[stop]
min_matches = 100000
max_matches = 100000
[[environment]]
name = "connect_four_v0"
[[policy]]
name = "slow"
spec = "tests.browser.considerate:Considerate"
[[policy]]
spec = "random"
"""


@contextlib.contextmanager
def command(*arguments):
    """Runs a command in a process of its own, which is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rating.cli", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextlib.contextmanager
def served(directory, port=0):
    """Serves a directory in a process of its own; yields the address of the board."""
    with command("serve", directory, "--port", port) as process:
        line = process.stdout.readline()
        assert f"{directory} is shown at http://127.0.0.1:" in line, line + process.stdout.read()
        yield line.split()[-1]
        assert process.poll() is None


def play_run(folder, run_file):
    """Plays a run in a process of its own, since the browser has the event loop of this one; returns its directory."""
    (folder / "run_file.toml").write_text(run_file)
    with command("run", folder / "run_file.toml", "--out", folder / "run") as process:
        output, _ = process.communicate(timeout=PATIENCE)
        assert f"llmarena report {folder / 'run'}" in output, output
    return folder / "run"


def begun(directory):
    """Waits until a run has a database and a match in it."""
    end = time.monotonic() + PATIENCE
    while not (directory / "run.db-wal").exists() and time.monotonic() < end:
        time.sleep(0.05)


@pytest.fixture
def page(browser):
    """A page, which must have nothing to complain of at the end."""
    page = browser.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "console", lambda message: errors.append(message.text) if "Content Security Policy" in message.text else None
    )
    yield page
    page.close()
    assert errors == []


def unmarked(page):
    """Marks a page, to detect a reload."""
    page.evaluate("window.notReloaded = true")
    return lambda: page.evaluate("window.notReloaded === true")


def text_of(page, selector, pattern):
    """Waits until the text of an element matches."""
    page.locator(selector, has_text=re.compile(pattern)).first.wait_for(timeout=WAIT)


def wait_until(page, holds, argument):
    """Waits until a function of JavaScript holds of its argument."""
    page.wait_for_function(holds, arg=argument, timeout=WAIT)


@pytest.fixture
def moves(tmp_path, monkeypatch):
    """The folder of the moves that the slow policy may make."""
    folder = tmp_path / "moves"
    folder.mkdir()
    monkeypatch.setenv(PACE, str(folder))
    return folder


def finished(page):
    """Returns the number of finished matches that the page shows."""
    return int(page.locator("[id='tab Progress'] tbody td").nth(4).text_content())


def test_board_follows_run_without_reload_through_kill_and_resume(page, tmp_path, moves):
    run_file, directory = tmp_path / "run_file.toml", tmp_path / "run"
    run_file.write_text(RUN)
    with command("run", run_file, "--out", directory) as run:
        begun(directory)
        with served(directory) as board:
            page.goto(f"{board}#matches")
            is_same = unmarked(page)
            text_of(page, "#state", "Running, or killed.")
            allow(moves, 1)
            page.locator("#list tr.row", has_text="under way").first.wait_for(timeout=WAIT)
            page.locator("#list a").first.click()
            turns = "document.querySelectorAll('.turn').length"
            page.locator("details", has_text="Rules as told to player_0").locator("summary").click()
            page.get_by_role("button", name="Next", exact=True).last.click()
            page.locator("#match figure img").wait_for(timeout=WAIT)
            before, picture = page.evaluate(turns), page.locator("#match figure img").get_attribute("src")
            last = f"document.querySelector('#match input[type=range]').value = {before}"
            page.evaluate(
                f"{last}; document.querySelector('#match input[type=range]').dispatchEvent(new Event('input'))"
            )
            page.get_by_role("button", name="Back", exact=True).focus()
            allow(moves, 1)
            wait_until(page, f"before => {turns} > before", before)
            wait_until(page, "before => document.querySelector('#match figure img').src !== before", picture)
            assert page.locator("details", has_text="Rules as told to player_0").get_attribute("open") is not None
            assert page.evaluate("document.activeElement.textContent") == "Back"
            assert is_same()

            page.goto(board)
            is_same = unmarked(page)
            allow(moves, A_MATCH)
            text_of(page, "#overview", "slow")
            assert is_same()

            os.kill(run.pid, signal.SIGKILL)
            run.wait()
            page.goto(board)
            text_of(page, "#state", "Running, or killed")
            is_same = unmarked(page)
            page.locator("#overview th button", has_text="policy").click()
            before = finished(page)
            with command("resume", directory):
                allow(moves, A_MATCH)
                more = "before => Number(document.querySelectorAll('[id=\"tab Progress\"] tbody td')[4].textContent) > before"
                wait_until(page, more, before)
                assert page.locator("#overview th[aria-sort=ascending]").inner_text() == "policy"
                assert is_same()


def test_a_turn_of_a_match_has_an_address(browser, page, tmp_path):
    directory = play_run(tmp_path, SHORT_RUN)
    with served(directory) as board:
        page.goto(f"{board}#matches")
        page.locator("#environment").select_option("connect_four_v0")
        text_of(page, "#shown", "8 of 16 matches")
        page.locator("#list a").first.click()
        text_of(page, "#match figcaption", "At the beginning")
        page.locator("#match").focus()
        for key, place in (("ArrowRight", "1"), ("ArrowRight", "2"), ("ArrowLeft", "1")):
            page.keyboard.press(key)
            wait_until(page, "place => location.hash.includes(`turn=${place}`)", place)
        text_of(page, "#match figcaption", "After turn 1 of")
        other = browser.new_page()
        other.goto(page.url)
        text_of(other, "#match figcaption", "After turn 1 of")
        assert other.locator(".turn.chosen").inner_text().startswith("1.")
        other.locator(".turn a").nth(3).click()
        text_of(other, "#match figcaption", "After turn 4 of")
        other.close()


def test_a_run_is_followed_without_scripts(browser, tmp_path, moves):
    run_file, directory = tmp_path / "run_file.toml", tmp_path / "run"
    run_file.write_text(RUN)
    with command("run", run_file, "--out", directory):
        begun(directory)
        with served(directory) as board:
            page = browser.new_page(java_script_enabled=False)
            page.goto(board)
            page.locator("#state", has_text="Running, or killed.").wait_for(timeout=WAIT)
            allow(moves, A_MATCH)
            page.locator("#overview", has_text="slow").wait_for(timeout=WAIT)
            page.close()


def test_hostile_run_executes_nothing_and_pages_fit_a_phone(browser, tmp_path):
    directory = play_run(tmp_path, HOSTILE)
    phone = browser.new_context(viewport={"width": 390, "height": 844})
    page = phone.new_page()
    said = []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda message: said.append(message.text) if "Content Security Policy" in message.text else None)
    with served(directory) as board:
        page.goto(f"{board}#matches")
        page.locator("#list a").first.wait_for(timeout=WAIT)
        links = [item.get_attribute("href") for item in page.locator("#list a").all()]
        assert len(links) == 6
        for link in ["", *(item.get_attribute("href") for item in page.locator("#tabs a").all()), *links]:
            page.goto(board + link)
            if "match=" in link:
                page.locator("#match h3").wait_for(timeout=WAIT)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, link
            assert page.locator("main img[src^=x], main script, main b b, main style").count() == 0
    assert said == []
    phone.close()


def test_page_recovers_when_server_or_run_returns(page, tmp_path):
    directory = play_run(tmp_path, SHORT_RUN)
    with served(directory) as board:
        page.goto(board)
        is_same = unmarked(page)
    page.locator("#connection:not([hidden])").wait_for(timeout=WAIT)
    port = board.split(":")[2].partition("/")[0]
    with served(directory, port) as again:
        assert again == board
        page.locator("#connection").wait_for(state="hidden", timeout=WAIT)
        (directory / "run.db").rename(tmp_path / "away.db")
        text_of(page, "#trouble", "there is none")
        (tmp_path / "away.db").rename(directory / "run.db")
        text_of(page, "#state", "Finished.")
        assert is_same()
