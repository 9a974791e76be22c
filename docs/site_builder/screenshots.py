"""Screenshots of pages, taken in Chromium; starts and stops the servers behind the pages."""

import io
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from benchmarks.performance.chat_server import running
from rating.play import run_directory
from rating.store.records import FINISHED
from rating.viewer.report.write import write_report
from site_builder.moving import REDUCED_MOTION
from site_builder.scenes import BOARD_RUN, ECHO, MOVES, OPPONENT, REPORT_RUN, SHOWN_TURN, TABS_RUN

WIDTH, HEIGHT = 1280, 800
SCREENS = {"wide": (WIDTH, HEIGHT), "phone": (390, 800)}
_SHEET, _GAP = 1600, 8
"""Width of a contact sheet, and space between its pictures."""
_BUILD = Path(__file__).parents[1] / "build_site.py"
_PATIENCE = 120.0
"""Seconds until a started process is stopped."""

_QUIET = 5
"""Seconds without a finished match, after which the remaining matches are assumed to wait for a person."""

_FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", REDUCED_MOTION)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Starts a headless Chromium.

    Raises:
        FileNotFoundError: if Chromium is not installed.
    """
    path = shutil.which("chromium")
    if path is None:
        raise FileNotFoundError("expected chromium on the path, got none: apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield browser
        browser.close()


@contextmanager
def _page(
    browser: Browser, address: str, theme: Literal["light", "dark"] = "light", size: tuple[int, int] = (WIDTH, HEIGHT)
) -> Iterator[Page]:
    """Opens a page."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)
    page.goto(address)
    yield page
    page.close()


@contextmanager
def _served(pattern: str, *command: str) -> Iterator[str]:
    """Runs a command of ``llmarena`` that serves pages, and gives the address that it prints.

    Args:
        pattern: of the line with the address, which is its first group.
        command: the command with its arguments.

    Raises:
        ValueError: if it ends without one.
    """
    words = [sys.executable, "-m", "rating.cli", *command, "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        guard = threading.Timer(_PATIENCE, process.kill)
        guard.start()
        try:
            address = next((found[1] for line in process.stdout or () if (found := re.search(pattern, line))), "")
            if not address:
                raise ValueError(f"expected an address from {' '.join(words)}, which ended with {process.wait()}")
            yield address
        finally:
            process.kill()
            guard.cancel()


def home(browser: Browser, picture: Path) -> None:
    """Takes a picture of the first page of the site, which it builds."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        subprocess.run([sys.executable, str(_BUILD), "--out", str(site)], check=True, stdout=subprocess.DEVNULL)
        with _page(browser, (site / "index.html").as_uri()) as page:
            page.screenshot(path=picture)


def play(browser: Browser, picture: Path) -> None:
    """Takes a picture of a match at a person's turn."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["play", "connect_four_v0", "--web", "--out", f"{folder}/match", "--seed", "1"]
        seats = ["--policy", "player_0=human", "--policy", f"player_1={OPPONENT}"]
        with _served(r"plays at (\S+)", *command, *seats) as address, _page(browser, address) as page:
            for number, move in enumerate(MOVES, start=1):
                page.get_by_role("button", name=move, exact=True).click()
                _asked(page, number + 1).wait_for(state="attached")
            page.screenshot(path=picture)


def _asked(page: Page, turn: int) -> Locator:
    """Returns the locator of the first reply's form in a person's turn; it is attached when the person is asked."""
    return page.locator(f'input[name="question"][value="{turn}.0"]').first


def board(browser: Browser, picture: Path) -> None:
    """Takes a picture of the live board of a run with matches that wait for a person."""
    with tempfile.TemporaryDirectory() as folder:
        run_file = Path(folder) / "study.toml"
        run_file.write_text(BOARD_RUN, encoding="utf-8")
        out = Path(folder) / "study"
        with (
            _served(r"is shown at (\S+)", "run", str(run_file), "--web", "--quiet", "--out", str(out)) as address,
            _page(browser, address) as page,
        ):
            _wait_for_the_others(out)
            page.reload()
            page.screenshot(path=picture)


def _wait_for_the_others(directory: Path) -> None:
    """Waits until no match of a run ends any more, since those that are left wait for people."""
    ended, end = [0], time.monotonic() + _PATIENCE
    while time.monotonic() < end and (ended[-1] == 0 or len(set(ended[-_QUIET:])) > 1 or len(ended) < _QUIET):
        time.sleep(1)
        _, store = run_directory.open_run(directory)
        with closing(store):
            ended.append(store.statuses().get(FINISHED, 0))


def answer(browser: Browser, picture: Path) -> None:
    """Takes a picture of the first screen of the report that ``llmarena demo`` writes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "demo"
        command = [sys.executable, "-m", "rating.cli", "demo", "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_PATIENCE)
        with _page(browser, (out / "report.html").as_uri()) as page:
            page.screenshot(path=picture)


def tabs(browser: Browser, folder: Path, singles: Path | None = None) -> list[Path]:
    """Takes pictures of every tab of a report in both themes, on a wide screen and on a phone.

    Args:
        browser: the browser.
        folder: directory of the contact sheets.
        singles: directory for each picture in full size; ``None`` to write none.

    Returns:
        The paths of the contact sheets, one for each theme and screen.
    """
    sheets = []
    with tempfile.TemporaryDirectory() as temporary:
        address = _report_with_every_tab(Path(temporary)).as_uri()
        for theme, (screen, size) in itertools.product(("light", "dark"), SCREENS.items()):
            pictures = {}
            with _page(browser, address, theme, size) as page:
                page.locator("#list a").first.wait_for(state="attached")
                for link in page.locator("#tabs a").all():
                    link.click()
                    page.locator("#tabs [aria-current]", has_text=link.inner_text()).wait_for()
                    pictures[link.inner_text().lower()] = page.screenshot()
            for name, data in pictures.items():
                if singles is not None:
                    (singles / f"{name}-{screen}-{theme}.png").write_bytes(data)
            sheets.append(folder / f"report-{screen}-{theme}.png")
            _write_sheet(list(pictures.values()), sheets[-1])
    return sheets


def _report_with_every_tab(folder: Path) -> Path:
    run_file, out = folder / "run.toml", folder / "run"
    with running(ECHO) as address:
        run_file.write_text(TABS_RUN.format(address=address), encoding="utf-8")
        command = [sys.executable, "-m", "rating.cli", "run", str(run_file), "--quiet", "--out", str(out)]
        environment = {**os.environ, "OPENAI_API_KEY": "none"}
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_PATIENCE, env=environment)
    return write_report(out, out / "report.html")


def _write_sheet(pictures: Sequence[bytes], path: Path) -> None:
    """Writes pictures of one size side by side, reduced, in few colours."""
    opened = [Image.open(io.BytesIO(data)) for data in pictures]
    across = 4 if opened[0].width > opened[0].height else 7
    width = _SHEET // across
    height = round(width * opened[0].height / opened[0].width)
    rows = -(-len(opened) // across)
    sheet = Image.new("RGB", (_SHEET, rows * (height + _GAP) - _GAP), "#6e7781")
    for number, picture in enumerate(opened):
        place = (number % across * width, number // across * (height + _GAP))
        sheet.paste(picture.convert("RGB").resize((width - _GAP, height), Image.Resampling.LANCZOS), place)
    sheet.quantize(64).save(path, optimize=True)


def report(browser: Browser, picture: Path) -> None:
    """Takes a picture of a match in a report, some turns after its beginning."""
    with tempfile.TemporaryDirectory() as folder:
        run_file, out = Path(folder) / "run.toml", Path(folder) / "run"
        run_file.write_text(REPORT_RUN, encoding="utf-8")
        command = [sys.executable, "-m", "rating.cli", "run", str(run_file), "--quiet", "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_PATIENCE)
        _, store = run_directory.open_run(out)
        with closing(store):
            match = max(store.records(), key=lambda record: len(record.turns)).match.id
        with _page(browser, f"{write_report(out, out / 'report.html').as_uri()}#match={match}") as page:
            for _ in range(SHOWN_TURN):
                page.get_by_role("button", name="Next", exact=True).click()
            page.locator(".turn.chosen").evaluate(
                "turn => turn.scrollIntoView({ block: 'center', behavior: 'instant' })"
            )
            page.screenshot(path=picture)
