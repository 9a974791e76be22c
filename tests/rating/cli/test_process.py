"""Interruptions at any moment, and garbage collection while a run is played."""

import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

import pytest

from rating.cli import main
from rating.cli.process import Interruptions, rare_collections
from rating.store import sqlite

RUN = ["run", "--env", "tictactoe_v0", "--policy", "random", "--policy", "greedy", "--max-matches", "4"]


class _SignalAt:
    """Sends SIGINT at a traced event.

    Args:
        moment: number of the event, from 0.
        path: part of the path of the traced files.
        begin: end of the path of the first file to count; leaves out the garbage of earlier tests.
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
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        return function()
    finally:
        sys.settrace(before)


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("offset", range(16))
def test_interruption_at_any_moment_ends_the_event_loop(offset):
    async def work():
        await asyncio.sleep(0)
        return "done"

    for moment in range(offset, 100_000, 16):
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
@pytest.mark.parametrize("moment", range(0, 64, 16))
def test_interrupted_run_resumes_or_runs_again(tmp_path, capsys, moment):
    out = tmp_path / "run"
    code = _traced(_SignalAt(moment, "play/run_directory.py"), lambda: main([*RUN, "--out", str(out)]))
    errors = capsys.readouterr().err
    assert code == 130
    resume = f"Resume with: llmarena resume {out}\n"
    assert errors in ("llmarena: interrupted\n", f"{resume}llmarena: interrupted\n")
    assert main(["resume", str(out)] if resume in errors else [*RUN, "--out", str(out)]) == 0


def test_interrupted_creation_leaves_a_database_or_none(tmp_path: Path) -> None:
    for moment in range(0, 40, 4):
        path = tmp_path / f"{moment}.db"
        with pytest.raises(KeyboardInterrupt), Interruptions():
            _traced(_SignalAt(moment, "store/sqlite.py"), lambda path=path: sqlite.create(path).close())
            raise KeyboardInterrupt
        if path.exists():
            sqlite.open_existing(path).close()


def test_rare_collections_restores_the_garbage_collector():
    before = gc.get_threshold()
    with pytest.raises(KeyboardInterrupt), rare_collections():
        assert gc.get_threshold()[0] > before[0]
        assert gc.get_freeze_count()
        raise KeyboardInterrupt
    assert gc.get_threshold() == before
    assert not gc.get_freeze_count()
