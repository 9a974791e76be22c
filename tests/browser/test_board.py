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

from rating.play.attempts import HELD_BACK
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


def test_board_follows_run_without_reload_through_kill_and_resume(page, tmp_path, moves):
    run_file, directory = tmp_path / "run_file.toml", tmp_path / "run"
    run_file.write_text(RUN)
    with command("run", run_file, "--out", directory) as run:
        begun(directory)
        with served(directory) as board:
            page.goto(board)
            is_same = unmarked(page)
            text_of(page, "#progress", "Running, or killed.")
            allow(moves, 1)
            page.locator("#under-way-table a").first.wait_for(timeout=WAIT)
            assert is_same()
            page.locator("#under-way-table a").first.click()
            is_same = unmarked(page)
            text_of(page, "#steps", "following")
            turns = page.locator("#steps span")
            before, picture = turns.inner_text(), page.locator("#position svg").inner_html()
            page.locator("#turns-list summary").click()
            page.locator("#step-prev").focus()
            allow(moves, 1)
            wait_until(page, "before => document.querySelector('#steps span').textContent.trim() !== before", before)
            wait_until(page, "before => document.querySelector('#position svg').innerHTML !== before", picture)
            assert page.locator("#turns-list").get_attribute("open") is not None
            assert page.evaluate("document.activeElement.id") == "step-prev"
            assert is_same()

            page.goto(board)
            is_same = unmarked(page)
            allow(moves, A_MATCH)
            text_of(page, "#ratings-1-table", "slow")
            assert is_same()

            os.kill(run.pid, signal.SIGKILL)
            run.wait()
            page.goto(board)
            text_of(page, "#progress", "Running, or killed")
            is_same = unmarked(page)
            finished = page.locator("#progress-table tbody td").nth(4).inner_text()
            with command("resume", directory):
                allow(moves, A_MATCH)
                more = "before => Number(document.querySelectorAll('#progress-table tbody td')[4].innerText) > before"
                wait_until(page, more, int(finished))
                assert is_same()


def test_board_steps_through_run_by_keyboard_without_scripts(browser, page, tmp_path):
    directory = play_run(tmp_path, SHORT_RUN)
    with served(directory) as board:
        page.goto(board)
        page.get_by_role("link", name="All matches").click()
        page.get_by_label("environment").select_option("connect_four_v0")
        page.get_by_role("button", name="Show").click()
        text_of(page, "#list", "8 matches")
        page.locator("#list-table a").first.click()
        text_of(page, "#steps", "after turn")
        for key, place in (
            ("Shift+ArrowLeft", "the beginning of"),
            ("ArrowRight", "after turn 1 of"),
            ("ArrowLeft", "the beginning of"),
            ("Shift+ArrowRight", r"after turn (\d+) of \1\b"),
        ):
            page.wait_for_load_state()
            page.keyboard.press(key)
            text_of(page, "#steps", place)

        plain = browser.new_page(java_script_enabled=False)
        plain.goto(page.url)
        plain.get_by_role("link", name="Previous").click()
        text_of(plain, "#steps", r"after turn")
        assert plain.locator("#position svg").count() == 1
        plain.close()


def test_a_run_is_followed_without_scripts(browser, tmp_path, moves):
    run_file, directory = tmp_path / "run_file.toml", tmp_path / "run"
    run_file.write_text(RUN)
    with command("run", run_file, "--out", directory):
        begun(directory)
        time.sleep(2 * HELD_BACK)  # a first move that took less is not written before the next one
        allow(moves, 1)
        with served(directory) as board:
            page = browser.new_page(java_script_enabled=False)
            page.goto(board)
            page.locator("#under-way-table a").first.wait_for(timeout=WAIT)
            page.locator("#under-way-table a").first.click()
            before = page.locator("#steps span").inner_text()
            allow(moves, 1)
            end = time.monotonic() + PATIENCE
            while page.locator("#steps span").inner_text() == before and time.monotonic() < end:
                time.sleep(0.2)
            assert page.locator("#steps span").inner_text() != before
            page.close()


def test_hostile_run_executes_nothing_and_pages_fit_a_phone(browser, tmp_path):
    directory = play_run(tmp_path, HOSTILE)
    phone = browser.new_context(viewport={"width": 390, "height": 844})
    page = phone.new_page()
    said = []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda message: said.append(message.text) if "Content Security Policy" in message.text else None)
    with served(directory) as board:
        page.goto(board)
        links = {f"{board}/matches", *(item.get_attribute("href") for item in page.locator("a[href*='/match/']").all())}
        page.goto(f"{board}/matches")
        links |= {item.get_attribute("href") for item in page.locator("a[href*='/match/']").all()}
        assert len(links) > 6
        for link in [board, *sorted(links)]:
            page.goto(link if link.startswith("http") else board.partition("/board/")[0] + link)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, link
            assert page.locator("main img, main script, main b, main style").count() == 0
        assert "<script>alert(1)</script>" in page.inner_text("#board") or said == []
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
        text_of(page, "#progress", "Finished.")
        assert is_same()
