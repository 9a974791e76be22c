"""Worker processes of a run over PostgreSQL that are killed, stopped, drained: the run ends as if nothing had happened."""

import contextlib
import functools
import io
import json
import signal
import time

import pytest

from rating.cli import main
from rating.records.postgres.members import State
from rating.running import run_directory
from tests.support.fault_server import fault_server

pytestmark = [pytest.mark.timeout(180), pytest.mark.slow]

HERE = "tests.rating.players"
SCRIPTED = f"""
seed = 11
executor = "workers"
[stop]
min_matches = 8
max_matches = 8
[[environment]]
name = "tictactoe_v0"
[[policy]]
spec = "random"
[[policy]]
spec = "greedy"
[[policy]]
spec = "{HERE}:SaysWhere"
options = {{ folder = "FOLDER", seconds = 0.05 }}
"""
MODELS = """
seed = 4
executor = "workers"
[stop]
min_matches = 6
max_matches = 6
[turns]
illegal = "random_legal"
reasks = 0
[[environment]]
name = "tictactoe_v0"
[[policy]]
name = "model"
spec = "openai:gpt-x"
options = {{ base_url = "{url}", api_key_env = "NONE_NEEDED" }}
[[policy]]
spec = "random"
"""
LEASE = ["--lease", 1]


@pytest.fixture
def begin(llmarena, tmp_path, postgres_url):
    """Begins a run, as its coordinator."""

    def start(text):
        (tmp_path / "run.toml").write_text(text.replace("FOLDER", str(tmp_path)))
        return llmarena("run", tmp_path / "run.toml", "--out", tmp_path / "run", "--store", postgres_url)

    return start


@pytest.fixture
def run(tmp_path):
    return tmp_path / "run"


@pytest.fixture
def store(run):
    """Opens the store of a run as soon as it has begun, to look at it: once, since to open it takes longer than to look."""
    with contextlib.ExitStack() as closed_at_end:

        @functools.cache
        def opened():
            wait_for(lambda: (run / "run.toml").exists())
            return closed_at_end.enter_context(contextlib.closing(run_directory.open_store(run, read_only=True)))

        yield opened


@pytest.fixture
def members(store):
    return lambda: {member.name: member for member in store().members()}


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"did not come about within {seconds} s"
        time.sleep(0.05)


def ended(process, code=0):
    assert process.wait(90) == code, process.errors.read_text()
    return process.errors.read_text()


def results(run):
    """Returns the leaderboards of a run and its play digest, after checking what was recorded."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        assert main(["rate", str(run), "--json"]) == 0
    boards = [table for table in json.loads(output.getvalue()) if "costs" not in table]  # lost calls are paid for twice
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["replay", str(run), "--verify"]) == 0
    with contextlib.closing(run_directory.open_store(run)) as store:
        assert store.check() == []
        return boards, store.digest()


def expected(tmp_path, text):
    """Returns what one process makes of it over a file."""
    (tmp_path / "alone.toml").write_text(text.replace('"workers"', '"asyncio"').replace("FOLDER", str(tmp_path)))
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["run", str(tmp_path / "alone.toml"), "--out", str(tmp_path / "alone"), "--quiet"]) == 0
    return results(tmp_path / "alone")


def test_a_worker_that_stands_still_for_too_long_and_a_killed_coordinator_change_nothing(
    begin, llmarena, run, members, tmp_path, capsys
):
    coordinator = begin(SCRIPTED)
    wait_for(lambda: "coordinator" in members())
    workers = {
        name: llmarena("work", run, "--name", name, "--executor", executor, *LEASE)
        for name, executor in (("one", "asyncio"), ("two", "process"))
    }
    wait_for(lambda: (member := members().get("one")) and member.playing)
    workers["one"].send_signal(signal.SIGSTOP)
    try:
        wait_for(lambda: members()["one"].state is State.DEAD)
        assert main(["resume", str(run)]) == 2
        assert "another process is playing this run" in capsys.readouterr().err
        coordinator.kill()
        coordinator.wait(10)
        resumed = llmarena("resume", run)
        wait_for(lambda: "two" in members() and members()["two"].played > 0)
    finally:
        workers["one"].send_signal(signal.SIGCONT)
    assert "was taken for dead" in ended(workers["one"])
    assert ended(workers["two"]).endswith("the run is over\n")
    ended(resumed)
    assert results(run) == expected(tmp_path, SCRIPTED)


def test_calls_under_way_when_a_worker_dies_are_counted_and_a_drained_worker_plays_what_it_holds(
    begin, llmarena, run, members, tmp_path, capsys
):
    with fault_server(reply=lambda request: "5", latency=0.2) as server:
        text = MODELS.format(url=server.url)
        coordinator = begin(text)
        wait_for(lambda: "coordinator" in members())
        one = llmarena("work", run, "--name", "one", "--concurrency", 3, *LEASE)
        wait_for(lambda: (member := members().get("one")) and member.playing and member.calls)
        one.kill()
        wait_for(lambda: members()["one"].state is State.DEAD)
        lost = members()["one"].lost
        assert 0 < lost <= 3
        two = llmarena("work", run, "--name", "two", "--concurrency", 3, *LEASE)
        wait_for(lambda: (member := members().get("two")) and member.played)
        two.terminate()
        server.latency = 0.0
        assert "draining" in ended(two)
        assert members()["two"].state is State.LEFT
        ended(llmarena("work", run, "--name", "three", "--concurrency", 6, *LEASE))
        ended(coordinator)
        assert results(run) == expected(tmp_path, text)
    assert main(["rate", str(run), "--wide"]) == 0
    costs = capsys.readouterr().out
    assert f"{lost} call" in costs
    assert "under way when a worker died" in costs
