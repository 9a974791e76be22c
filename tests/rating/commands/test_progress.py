"""The progress of a run where there is no terminal."""

from rating.commands.progress import ProgressDisplay
from rating.running.runner import Progress


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
