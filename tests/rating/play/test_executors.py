"""Workers that die: their match moves to another worker, once, and ends with the same result."""

import asyncio
import contextlib
import os
import re
import signal
from multiprocessing.connection import wait

import pytest

from llmarena_envs.core.options import OptionError
from rating.cli import main
from rating.errors import ErrorBudgetExceeded
from rating.play import run_directory
from rating.play.executors.executor import WorkerDied, play_despite_death
from rating.play.executors.process import ProcessExecutor, ending
from rating.play.runner import Runner
from rating.play.session import Session
from rating.store.records import FINISHED, VOID, Match
from tests.rating.runs import log_of

pytestmark = pytest.mark.timeout(120)

HERE = "tests.rating.players"


def run_file(matches, spec, workers=2, **options):
    """Returns a run of so many matches between a scripted policy and one with the name ``doomed``."""
    written = ", ".join(f"{name} = {value!r}" for name, value in options.items())
    return f"""
seed = 4
executor = "process"
workers = {workers}
stop.matches = {matches}
[[environment]]
name = "tictactoe_v0"
seats = ["doomed", "random"]
[[policy]]
spec = "random"
[[policy]]
name = "doomed"
spec = "{HERE}:{spec}"
options = {{ {written} }}
"""


def play(directory, text, session):
    """Plays a run; returns its records, their serialized text, its digest, and its progress."""
    run, store = run_directory.create(directory, text, "run.toml")
    runner = Runner(run, store, session)
    try:
        asyncio.run(runner.run())
    finally:
        records = list(store.records())
        digest = store.digest()
        store.close()
    return records, log_of(records), digest, runner.progress()


def test_match_of_dead_worker_ends_like_undisturbed_one(tmp_path, caplog):
    text = run_file(4, "KillsItsProcess", marker=str(tmp_path / "marker"), turn=1)
    _, log, digest, progress = play(tmp_path / "disturbed", text, Session(max_errors=0))
    assert progress.deaths == 1
    assert "was killed by SIGKILL" in caplog.text
    assert (tmp_path / "marker").exists()
    _, expected_log, expected_digest, progress = play(tmp_path / "whole", text, Session(executor="asyncio"))
    assert progress.deaths == 0
    assert (log, digest) == (expected_log, expected_digest)


def test_match_with_two_dead_workers_is_void(tmp_path):
    text = run_file(1, "KillsItsProcess", how="SIGSEGV")
    (record,), *_, progress = play(tmp_path / "run", text, Session())
    assert (record.status, record.tries) == (VOID, 1)
    assert record.error.startswith("2 workers died, one after the other, at a match of doomed, random: worker process ")
    assert record.error.count("was killed by SIGSEGV") == 2
    assert (progress.deaths, progress.errors) == (2, 1)


@pytest.mark.parametrize("executor", ["asyncio", "process"])
@pytest.mark.parametrize(("how", "said"), [("exit", "SystemExit: 3"), ("cancelled", "CancelledError")])
def test_policy_that_exits_voids_only_its_match(tmp_path, executor, how, said):
    (record,), *_, progress = play(tmp_path / "run", run_file(1, "Leaves", how=how), Session(executor=executor))
    assert record.status == VOID
    assert record.error.startswith(f"the policy raised {said}")
    assert progress.deaths == 0


def test_policy_that_cannot_be_made_in_worker_voids_match(tmp_path):
    text = run_file(1, "MadeInMainProcessOnly")
    (record,), *_ = play(tmp_path / "run", text, Session())
    assert record.status == VOID
    assert record.error.startswith("making the policy raised ValueError: the file of weights is not here")
    run, store = run_directory.open_run(tmp_path / "run")
    with contextlib.closing(store):
        assert asyncio.run(Runner(run, store, Session(executor="asyncio")).run()) == 0
        assert [record.status for record in store.records()] == [FINISHED]


def test_worker_deaths_count_in_the_error_budget(tmp_path):
    text = run_file(2, "KillsItsProcess", workers=1, how=3)
    with pytest.raises(ErrorBudgetExceeded, match="ended with exit code 3"):
        play(tmp_path / "run", text, Session(max_errors=0))


def test_a_worker_that_dies_without_a_match_harms_none(tmp_path, monkeypatch):
    folder = tmp_path / "seen"
    folder.mkdir()
    killed = []

    async def killed_afterwards(self, match, played, on_turn, whole=ProcessExecutor.play):
        result = await whole(self, match, played, on_turn)
        for path in folder.iterdir():
            os.kill(int(path.name), signal.SIGKILL)
            path.unlink()
            wait([worker._process.sentinel for worker in self._workers])
            killed.append(match)
        return result

    monkeypatch.setattr(ProcessExecutor, "play", killed_afterwards)
    text = run_file(2, "SaysWhere", workers=1, folder=str(folder))
    records, *_, progress = play(tmp_path / "run", text, Session())
    assert [record.status for record in records] == [FINISHED] * 2
    assert len(killed) == 2
    assert progress.deaths == 0


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (None, "closed its pipe"),
        (0, "ended with exit code 0"),
        (-signal.SIGTERM, "was killed by SIGTERM"),
        (-40, "was killed by signal 40"),
    ],
)
def test_how_a_process_ended_is_named(code, said):
    assert ending(code) == said


def test_second_worker_continues_a_dead_workers_match():
    begun = []

    async def dies_after_two_turns(match, played, on_turn):
        begun.append(played)
        on_turn(len(played))
        on_turn(len(played) + 1)
        raise WorkerDied(f"worker {len(begun)}")

    heard = []
    match = Match("tictactoe_v0", 7, ("one", "two", "one"), seed=1)
    played = asyncio.run(play_despite_death(dies_after_two_turns, match, [0], heard.append))
    assert begun == [(0,), (0, 1, 2)]
    assert heard == [1, 2, 3, 4]
    assert (played.outcome.status, played.final, played.deaths) == (VOID, True, 2)
    assert played.error == "2 workers died, one after the other, at a match of one, two: worker 1; then worker 2"


def test_a_run_in_a_cluster_needs_ray(tmp_path, monkeypatch):
    monkeypatch.setattr("rating.play.executors.ray.find_spec", lambda name: None)
    with pytest.raises(OptionError, match=re.escape("pip install 'llmarena-envs[ray]'")):
        play(tmp_path / "run", run_file(1, "SaysWhere", folder=str(tmp_path)), Session(executor="ray"))


@pytest.mark.parametrize("says", ["flag", "run file"])
def test_missing_executor_extra_is_refused_without_a_directory(says, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("rating.play.executors.ray.find_spec", lambda name: None)
    text = run_file(1, "SaysWhere", folder=str(tmp_path))
    if says == "run file":
        text = text.replace('executor = "process"', 'executor = "ray"')
    (tmp_path / "study.toml").write_text(text)
    flags = ["--executor", "ray"] if says == "flag" else []
    assert main(["run", str(tmp_path / "study.toml"), "--out", str(tmp_path / "run"), *flags]) == 2
    assert "pip install 'llmarena-envs[ray]'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
