"""Interruptions at every moment of a run of the event loop."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from rating.cli import main
from rating.cli.process import Interruptions
from rating.store import sqlite

RUN = ["run", "--env", "tictactoe_v0", "--policy", "random", "--policy", "greedy", "--max-matches", "4"]


class _SignalAt:
    """Sends SIGINT at the given event of what is traced, counted from 0: in functions of files with such a path.

    Counting begins in a file with such an end: the garbage of earlier tests is none of it.
    """

    def __init__(self, moment: int, path: str, begin: str = "") -> None:
        self._left = moment
        self._path = path
        self._begin = begin
        self.sent = False

    def __call__(self, frame, event, argument):
        name = frame.f_code.co_filename
        if not name.endswith(self._begin):
            return self
        self._begin = ""
        if self._path in name:
            self._left -= 1
            if self._left < 0 and not self.sent:
                self.sent = True
                os.kill(os.getpid(), signal.SIGINT)
        return self


def _traced(tracer, function):
    sys.settrace(tracer)
    try:
        return function()
    finally:
        sys.settrace(None)


@pytest.mark.parametrize("offset", range(4))
def test_an_interruption_at_any_moment_of_the_event_loop_ends_it_in_good_order(offset):
    async def work():
        await asyncio.sleep(0)
        return "done"

    for moment in range(offset, 100_000, 4):
        tracer = _SignalAt(moment, "asyncio", "asyncio/runners.py")
        try:
            with Interruptions() as interruptions:
                result = _traced(tracer, lambda within=interruptions: within.run(work))
        except KeyboardInterrupt:
            assert tracer.sent
        else:
            assert result == "done"
            assert not tracer.sent
            break
    assert moment > 300


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a lock that is closed late
@pytest.mark.parametrize("moment", range(0, 64, 9))
def test_what_an_interruption_leaves_can_be_resumed_as_it_says_or_run_again(tmp_path, capsys, moment):
    out = tmp_path / "run"
    code = _traced(_SignalAt(moment, "running/run_directory.py"), lambda: main([*RUN, "--out", str(out)]))
    errors = capsys.readouterr().err
    assert code == 130
    goes_on = f"Resume with: llmarena resume {out}\n"
    assert errors in ("llmarena: interrupted\n", f"{goes_on}llmarena: interrupted\n")
    assert main(["resume", str(out)] if goes_on in errors else [*RUN, "--out", str(out)]) == 0


def test_a_database_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    for moment in range(0, 40, 2):
        path = tmp_path / f"{moment}.db"
        with pytest.raises(KeyboardInterrupt), Interruptions():
            _traced(_SignalAt(moment, "store/sqlite.py"), lambda path=path: sqlite.create(path).close())
            raise KeyboardInterrupt
        if path.exists():
            sqlite.open_existing(path).close()
