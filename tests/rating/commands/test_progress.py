"""The progress of a run where there is no terminal."""

import logging

from rating.commands.progress import FailureLines, ProgressDisplay
from rating.running.runner import ENVIRONMENT, Progress


def test_a_line_now_and_then(capsys):
    with ProgressDisplay(["a", "b"]) as display:
        for finished in (0, 0, 0, 1, 99, 100, 100, 101, 250, 299, 300):
            display.update(Progress("a", finished, 400, errors=0))
        display.update(Progress("b", 7, 8, errors=1, stopped="cap"))
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "a: 100 of 400 matches",
        "a: 250 of 400 matches",
        "a: 300 of 400 matches",
        "b: 7 of 8 matches stopped: cap 1 failures of providers or environments",
    ]


def test_failures_are_shown_as_they_come_but_not_all_of_them():
    lines, now = [], [1000.0]
    log = logging.Logger("of a test")
    log.addHandler(FailureLines(lines.append, clock=lambda: now[0]))
    token = ENVIRONMENT.set("tictactoe_v0")
    for second in range(31):
        now[0] = 1000.0 + second
        log.info("model: refused\x1b[31m\nat attempt %d", second)
    ENVIRONMENT.reset(token)
    assert lines == [
        "tictactoe_v0: model: refused\\x1b[31m at attempt 0",
        "tictactoe_v0: model: refused\\x1b[31m at attempt 15 (14 more since the line before)",
        "tictactoe_v0: model: refused\\x1b[31m at attempt 30 (14 more since the line before)",
    ]


def test_only_a_run_under_way_shows_failures(capsys):
    with ProgressDisplay(["a"]):
        logging.getLogger("agents.models.retry").info("first")
    logging.getLogger("agents.models.retry").info("second")
    assert capsys.readouterr().err == "first\n"
