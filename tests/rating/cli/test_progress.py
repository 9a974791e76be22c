"""Progress of a run, with and without a terminal."""

import asyncio
import contextlib
import io
import logging
import os
import pty
import re
import subprocess
import sys
from collections import Counter

import pytest
from rich.console import Console

from rating.cli.progress import FailureLines, GameBars, ProgressDisplay, progress_line
from rating.play.attempts import MATCH
from rating.play.runner import EnvironmentProgress, Progress
from rating.store.calls import Usage
from rating.store.records import Match

HOSTILE = "m\x1b[31m[red]\u202e"


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def used(calls, errors, prompt_tokens, completion_tokens, cost, **unknown):
    return Usage(
        calls, errors=errors, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens, cost=cost, **unknown
    )


def under_way(finished=30, calls=120, expected=90, **changes):
    usage = {
        ("a", "big"): used(calls, Counter(rate_limited=7, timeout=9), 1_250_000, 3_000, 1.5),
        ("b", "big"): used(10, Counter(timeout=1), 1_000, 0, 0.25),
        ("b", HOSTILE): used(5, Counter(), 50, 5, 0.0, unknown=1, unpriced=4),
    }
    environments = (
        EnvironmentProgress("a", finished, finished, 64, expected=expected),
        EnvironmentProgress("b", 12, 0, 12, void=2, stopped="cap"),
    )
    return Progress(environments, 3, usage, 20, 64, **changes)


def bars_of(*snapshots):
    """Shows one snapshot a minute; returns the bars and the screen of a terminal with 120 columns."""
    clock, file = Clock(), io.StringIO()
    bars = GameBars(Console(file=file, width=120, force_terminal=True, color_system=None), clock)
    for snapshot in snapshots:
        clock.now += 60
        bars.show(snapshot)
    bars.console.print(bars)
    return bars, [line.rstrip() for line in file.getvalue().splitlines()]


def test_bars_show_games_and_calls():
    _, (first, second, calls) = bars_of(
        under_way(0), under_way(30), under_way(60, budget=20.0, suspended={HOSTILE: "401: no\nkey"})
    )
    assert re.fullmatch(r"a ━+\S* +60 of 90 30.0 a minute 0:01:00 16 failed calls, cost 1.50", first)
    assert re.fullmatch(r"b ━+ +12 of 12 +0:00:00 stopped: cap, 2 void, 1 failed calls, cost 0.25\+", second)
    assert calls.startswith(
        "135 calls, 20 of 64 in flight; tokens: 1,251,050+ in, 3,005+ out; cost 1.75+ of 20; failed calls:"
    )


@pytest.mark.parametrize(
    ("snapshots", "shown", "left"),
    [
        ([under_way(0), under_way(30), under_way(60)], "a 60 of 90", "0:01:00"),
        ([under_way(30), under_way(30), under_way(30)], "a 30 of 90", None),
        ([under_way(0, expected=None), under_way(30, expected=None)], "a 30 of 64+", None),
    ],
)
def test_line_shows_time_left_if_known(snapshots, shown, left):
    bars, _ = bars_of(*snapshots)
    line = bars.line(snapshots[-1])
    assert line.startswith(f"matches: {shown}; 135 calls")
    assert re.findall("time left: (.*)", line) == ([left] if left else [])


def test_line_of_many_games_leaves_out_those_that_have_not_begun():
    games = [EnvironmentProgress(f"game {number}", int(number == 3), 0, 8) for number in range(20)]
    bars, _ = bars_of(progress := Progress(tuple(games), usage={}, suspended={}))
    assert bars.line(progress).startswith("matches: game 3 1 of 8+, 19 other games")


def test_hostile_names_are_escaped():
    hostile = Progress(
        (EnvironmentProgress(HOSTILE, 1, 1, 4, stopped=HOSTILE),),
        usage={(HOSTILE, "a"): used(1, Counter({HOSTILE: 1}), 1, 1, 1.0)},
        suspended={HOSTILE: HOSTILE},
    )
    bars, lines = bars_of(hostile)
    text = "".join([*lines, bars.line(hostile)])
    assert text.count("m\\x1b[31m[red]\\u202e") >= 6
    assert not re.search("[\x1b\u202e]", text)


def test_display_without_terminal_prints_a_line_a_minute(capsys):
    clock = Clock()
    display = ProgressDisplay(clock=clock)
    for second in range(130):
        clock.now = 1000.0 + second
        display.show(under_way(finished=0))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "b: 12 of 12 matches, stopped: cap, 2 void"
    line = "matches: a 0 of 90; 135 calls, 20 of 64 in flight; tokens: 1,251,050+ in, 3,005+ out; cost 1.75+; "
    line += "failed calls: 10 timeout, 7 rate_limited; 3 errors of providers or environments"
    assert lines[1:] == [line, line]


@pytest.mark.parametrize(("settings", "shown"), [({"person": True}, 1), ({"quiet": True}, 0)])
def test_display_does_not_disturb_people(settings, shown, capsys):
    clock = Clock()
    display = ProgressDisplay(clock=clock, **settings)
    for _ in range(10):
        clock.now += 60
        display.show(under_way())
    assert len(capsys.readouterr().err.splitlines()) == shown


def test_failures_of_one_kind_are_rate_limited():
    lines, clock = [], Clock()
    log = logging.Logger("of a test")
    log.addHandler(FailureLines(lines.append, clock))
    token = MATCH.set(Match("tictactoe_v0", 0, ("a", "b"), 1))
    for second in range(31):
        clock.now = 1000.0 + second
        log.info("model: refused\x1b[31m\nat attempt %d", second)
        if second == 3:
            log.warning("%s is out", "model")
    log.error("model is suspended")
    MATCH.reset(token)
    assert lines == [
        "tictactoe_v0: model: refused\\x1b[31m at attempt 0",
        "tictactoe_v0: model is out",
        "tictactoe_v0: model: refused\\x1b[31m at attempt 15 (14 more like this since the last one)",
        "tictactoe_v0: model: refused\\x1b[31m at attempt 30 (14 more like this since the last one)",
        "tictactoe_v0: model is suspended",
    ]


@pytest.mark.parametrize(("quiet", "shown"), [(False, "first\nlost\n"), (True, "lost\n")])
def test_failures_are_shown_only_during_a_run(quiet, shown, capsys):
    async def fail():
        logging.getLogger("agents.models.limits.retry").info("first")
        logging.getLogger("rating.play.attempts").error("lost")
        return 5

    progress = Progress((EnvironmentProgress("a", 0, 0, 0),))
    assert asyncio.run(ProgressDisplay(quiet=quiet).watch(fail, lambda: progress)) == 5
    logging.getLogger("agents.models.limits.retry").info("second")
    assert capsys.readouterr().err == shown


@pytest.mark.slow
def test_run_on_a_terminal_shows_bars_and_restores_cursor(tmp_path):
    terminal, side = pty.openpty()
    command = [sys.executable, "-m", "rating.cli", "run", "--env", "tictactoe_v0", "--policy", "random"]
    command += ["--policy", "first_legal", "--max-matches", "24", "--min-matches", "24"]
    command += ["--workers", "1", "--out", str(tmp_path / "run")]
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=side, env=environment) as process:
        os.close(side)
        written = b""
        with contextlib.suppress(OSError):  # the process has closed the other side
            while piece := os.read(terminal, 65536):
                written += piece
    os.close(terminal)
    assert process.returncode == 0
    assert b"tictactoe_v0" in written and b"24 of 24" in written and b"stopped: cap" in written
    assert written.count(b"\x1b[?25l") == written.count(b"\x1b[?25h") == 1


def test_progress_line_counts_on_a_terminal_and_is_silent_elsewhere(monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress_line("Report") as show:
            for number in range(1, 1201):
                show(number, 4230)
        assert ("1,200 of 4,230 matches" in stream.getvalue()) == stream.isatty()
        assert "\n\n" not in stream.getvalue() and capsys.readouterr().out == ""
