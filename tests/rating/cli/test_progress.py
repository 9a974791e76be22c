"""The progress of a run, on a terminal and where there is none."""

import asyncio
import contextlib
import io
import logging
import os
import pty
import subprocess
import sys
from collections import Counter

import pytest
from rich.console import Console

from rating.cli import main
from rating.cli.progress import FailureLines, ProgressDisplay
from rating.cli.progress_views import Pace, draw_table, write_line
from rating.config.run_file import parse_run_file
from rating.play import run_directory
from rating.play.attempts import ENVIRONMENT
from rating.play.progress import EnvironmentProgress, Progress, expected_matches
from rating.play.run import Run
from rating.play.runner import Runner
from rating.store.bill import Usage

HOSTILE = "m\x1b[31m[red]\u202e"


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def used(calls, errors, prompt_tokens, completion_tokens, cost, **unknown):
    return Usage(
        calls,
        errors=errors,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cost=cost,
        **unknown,
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


def drawn(progress, pace):
    file = io.StringIO()
    Console(file=file, width=110, force_terminal=True, color_system=None).print(draw_table(progress, pace))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_the_table_shows_environments_policies_and_the_whole():
    clock = Clock()
    pace = Pace(clock)
    pace.add(under_way(finished=0, calls=0))
    clock.now += 60
    pace.add(under_way(calls=60))
    clock.now += 30
    pace.add(under_way(calls=120))
    lines = drawn(under_way(suspended={HOSTILE: "401: no\nkey"}), pace)
    assert [line.split("  ")[0] for line in lines][:3] == ["environment", "a", "b"]
    assert "30 of 90" in lines[1]
    assert lines[2].split() == ["b", "12", "of", "12", "2", "stopped:", "cap,", "2", "void"]
    assert lines[3].split() == ["policy", "calls", "tokens", "in", "tokens", "out", "cost"]
    assert lines[4].split() == [
        "big",
        "130",
        "1,251k",
        "3,000",
        "1.75",
        "failed",
        "calls:",
        "10",
        "timeout,",
        "7",
        "rate_limited",
    ]
    assert lines[5].startswith("m\\x1b[31m[red]\\u202e ")
    assert lines[5].split()[1:] == ["5", "50+", "5+", "?", "suspended:", "401:", "no", "key"]
    assert lines[6:] == [
        "135 calls, 2.0 a second, 20 of 64 under way; 3 failures of providers or environments; time left: 3 min"
    ]


def test_time_left_is_unknown_where_the_end_is():
    clock = Clock()
    pace = Pace(clock)
    clock.now += 60
    assert pace.seconds_left(under_way()) == 120
    assert pace.seconds_left(under_way(expected=None)) is None
    assert pace.seconds_left(under_way(finished=0)) is None
    assert "30 of 64+" in write_line(under_way(expected=None), pace)
    assert "time left: ?" in write_line(under_way(expected=None), pace)


def test_where_there_is_no_terminal_lines_come_every_half_minute_and_at_each_end(capsys):
    clock = Clock()
    display = ProgressDisplay(clock=clock)
    for second in range(70):
        clock.now = 1000.0 + second
        display.show(under_way(finished=0))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "b: 12 of 12 matches, stopped: cap, 2 void"
    line = "matches: a 0 of 90; 135 calls, 0.0 a second, 20 of 64 under way; 3 failures of providers or environments; "
    line += "time left: ?; tokens: 1,251k+ in, 3,005+ out; cost 1.75+; failed calls: 10 timeout, 7 rate_limited"
    assert lines[1:] == [line, line]


@pytest.mark.parametrize(("how", "shown"), [({"person": True}, 1), ({"quiet": True}, 0)])
def test_a_person_is_not_disturbed_and_quiet_is_quiet(how, shown, capsys):
    clock = Clock()
    display = ProgressDisplay(clock=clock, **how)
    for _ in range(10):
        clock.now += 30
        display.show(under_way())
    assert len(capsys.readouterr().err.splitlines()) == shown


def test_a_run_without_models_says_nothing_of_calls():
    progress = Progress((EnvironmentProgress("a", 1, 1, 4),))
    pace = Pace(Clock())
    assert write_line(progress, pace) == "matches: a 1 of 4+; time left: ?"
    assert len(drawn(progress, pace)) == 3


def test_failures_are_shown_as_they_come_but_not_all_of_them():
    lines, clock = [], Clock()
    log = logging.Logger("of a test")
    log.addHandler(FailureLines(lines.append, clock))
    token = ENVIRONMENT.set("tictactoe_v0")
    for second in range(31):
        clock.now = 1000.0 + second
        log.info("model: refused\x1b[31m\nat attempt %d", second)
        if second == 3:
            log.warning("%s is out", "model")
    log.error("model is suspended")
    ENVIRONMENT.reset(token)
    assert lines == [
        "tictactoe_v0: model: refused\\x1b[31m at attempt 0",
        "tictactoe_v0: model is out",
        "tictactoe_v0: model: refused\\x1b[31m at attempt 15 (14 more of this kind since the line before)",
        "tictactoe_v0: model: refused\\x1b[31m at attempt 30 (14 more of this kind since the line before)",
        "tictactoe_v0: model is suspended",
    ]


@pytest.mark.parametrize(("quiet", "shown"), [(False, "first\nlost\n"), (True, "lost\n")])
def test_only_a_run_under_way_shows_failures(quiet, shown, capsys):
    async def fail():
        logging.getLogger("agents.models.limits.retry").info("first")
        logging.getLogger("rating.play.attempts").error("lost")
        return 5

    progress = Progress((EnvironmentProgress("a", 0, 0, 0),))
    assert asyncio.run(ProgressDisplay(quiet=quiet).watch(fail, lambda: progress)) == 5
    logging.getLogger("agents.models.limits.retry").info("second")
    assert capsys.readouterr().err == shown


RUN_FILE = """
[stop]
min_matches = 4
max_matches = 6
matches = 6
[[environment]]
name = "tictactoe_v0"
[[environment]]
name = "public_goods_v0"
[[policy]]
spec = "random"
[[policy]]
name = "second"
spec = "random"
[[policy]]
name = "third"
spec = "random"
[[policy]]
name = "fourth"
spec = "random"
"""


def test_a_runner_says_how_far_it_is_and_how_many_matches_are_to_come(tmp_path):
    run, store = run_directory.create(tmp_path / "run", RUN_FILE, "run.toml")
    asyncio.run(Runner(run, store).run())
    again = Runner(run, store)
    assert asyncio.run(again.run()) == 0
    store.close()
    duel, group = again.progress().environments
    assert (duel.name, duel.expected, duel.played, duel.stopped) == ("tictactoe_v0", None, 0, "cap")
    assert duel.finished == duel.scheduled > 5
    assert (group.name, group.stopped) == ("public_goods_v0", "count")
    assert group.finished == group.scheduled == group.expected > 5
    scheme = Run(parse_run_file(RUN_FILE, "run.toml")).scheme("public_goods_v0")
    assert expected_matches(scheme) == group.expected


@pytest.mark.slow
def test_quiet_is_quiet_on_the_command_line(tmp_path, capsys):
    flags = ["--env", "tictactoe_v0", "--policy", "random", "--policy", "first_legal", "--max-matches", "4"]
    assert main(["run", *flags, "--quiet", "--out", str(tmp_path / "quiet")]) == 0
    assert capsys.readouterr().err == ""
    assert main(["run", *flags, "--out", str(tmp_path / "loud")]) == 0
    assert capsys.readouterr().err == "tictactoe_v0: 4 of 4 matches, stopped: cap\n"


def test_on_a_terminal_there_is_a_table_and_the_cursor_comes_back(tmp_path):
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
    assert b"environment" in written and b"24 of 24" in written and b"stopped: cap" in written
    assert written.count(b"\x1b[?25l") == written.count(b"\x1b[?25h") == 1
