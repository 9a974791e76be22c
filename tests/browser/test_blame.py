"""The curve of ``llmarena blame`` above a match."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from rating.cli import main
from rating.viewer.report.write import write_report
from tests.rating.runs import play_run, run_file

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("blamed")
    text = run_file("tictactoe_v0", policies=("random", "minimax"), stop="min_matches = 2\nmax_matches = 2")
    with ThreadPoolExecutor(1) as thread:  # the browser has a loop in this one
        thread.submit(play_run, folder / "run", text).result()
        assert thread.submit(main, ["blame", str(folder / "run"), "--with", "minimax", "--pairs", "8"]).result() == 0
    return folder / "run"


def test_curve_is_shown_above_a_match_of_a_report(browser, run):
    with browser.new_page() as page:
        failures = []
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.goto(f"{write_report(run, run.parent / 'report.html').as_uri()}#matches")
        page.locator("#list a").first.click()
        image = page.locator("#match .curve img")
        image.wait_for()
        assert failures == []
        assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 640
        assert image.get_attribute("alt").startswith("Expected reward of player_")
