"""The report in a real browser: needs ``chromium`` on the path, so it is run apart from the other tests."""

import asyncio
import subprocess

from rating.commands.read import write_report
from rating.running import run_directory
from rating.running.runner import Runner
from tests.rating.report.test_report import RUN

CHROMIUM = [
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
]


def test_a_match_is_shown_turn_by_turn_and_hostile_text_stays_text(tmp_path):
    config, store = run_directory.create(tmp_path / "run", RUN, "run.toml")
    asyncio.run(Runner(config, store).run())
    match = next(store.records()).match
    store.close()
    report = write_report(tmp_path / "run", tmp_path / "report.html")
    url = f"{report.as_uri()}#match={match.id}"
    command = [*CHROMIUM, f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", url]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert "20 matches" in shown
    assert 'class="turn"' in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "<img" not in shown
    assert "forfeit by" in shown
