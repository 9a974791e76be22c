"""A language model behind a real OpenAI-compatible server plays a rated tournament; the server is killed once."""

import contextlib
import itertools
import json
import subprocess
import sys
import time

import pytest

from agents.models.calls import CallStatus
from rating.errors import RunError
from rating.play import run_directory
from tests.support.calls import logged_calls
from tests.support.model_server import running_server

RUN_FILE = """
seed = 7
schedule = "round_robin"
max_errors = 10

[[environment]]
name = "tictactoe_v0"

[[policy]]
spec = "random"

[[policy]]
spec = "greedy"

[[policy]]
name = "tiny"
spec = "openai:{model}"
options = {{ base_url = "{url}", max_tokens = 16, max_attempts = 2, timeout = 60 }}
"""


def llmarena(*arguments):
    command = [sys.executable, "-m", "rating.cli", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process, code):
    output, errors = process.communicate(timeout=480)
    assert process.returncode == code, errors
    return output, errors


def count(directory, status):
    """Counts the matches of the model in a run, which may not have begun."""
    try:
        _, store = run_directory.open_run(directory)
    except RunError:
        return 0
    with contextlib.closing(store):
        return sum(record.status == status and "tiny" in record.match.policies for record in store.records())


def boards(directory):
    output, _ = finish(llmarena("rate", directory, "--json"), 0)
    return {board["environment"]: board for board in json.loads(output) if "costs" not in board}


@pytest.mark.slow
def test_model_run_converges_despite_killed_server(tmp_path, tiny_model):
    run = tmp_path / "run"
    with running_server(tiny_model) as server:
        (tmp_path / "run.toml").write_text(RUN_FILE.format(model=server.model, url=server.url))
        process = llmarena("run", tmp_path / "run.toml", "--out", run)
        while count(run, "finished") < 15:
            assert process.poll() is None, process.communicate()
            time.sleep(0.2)
        server.kill()
    with running_server(tiny_model, server.port):
        finish(process, 0)
    assert count(run, "void") == count(run, "unfinished") == 0
    for board in boards(run).values():
        assert board["stop_reason"] in ("order", "alike", "cap")
        assert board["void_matches"] == board["bug_matches"] == 0
        tiny = next(row for row in board["rows"] if row["policy"] == "tiny")
        assert tiny["effort"]["matches"] >= 50
        assert tiny["effort"]["prompt_tokens"] > tiny["effort"]["completion_tokens"] > 0
        assert tiny["effort"]["forfeits"].keys() <= {"illegal", "unparsable", "truncated", "empty", "refusal"}
        assert tiny["effort"]["failures"]
    output, _ = finish(llmarena("replay", run, "--verify"), 0)
    assert "finished matches verified" in output


CROWD_FILE = """
seed = 7
concurrency = 200
max_errors = 0
tries = 1
stop = {{ matches = 300, max_matches = 300 }}
turns = {{ reasks = 0 }}

[[environment]]
name = "bid_v0"
scheme = "mean_reward"
options = {{ rounds = 3 }}

[[policy]]
spec = "random"

[[policy]]
name = "tiny"
spec = "openai:{model}"
options = {{ base_url = "{url}", max_tokens = 8, max_attempts = 2, timeout = 60 }}
"""


def most_at_once(calls):
    """Returns how many calls waited or were under way at once."""
    moments = [(call.time.timestamp() - call.call.latency - call.call.waited, 1) for call in calls]
    moments += [(call.time.timestamp(), -1) for call in calls]
    return max(itertools.accumulate(step for _, step in sorted(moments)))


@pytest.mark.slow
def test_two_hundred_games_at_once_leave_no_match_void(tmp_path, tiny_model):
    run = tmp_path / "run"
    with running_server(tiny_model) as server:
        (tmp_path / "run.toml").write_text(CROWD_FILE.format(model=server.model, url=server.url))
        finish(llmarena("run", tmp_path / "run.toml", "--out", run), 0)
    assert count(run, "finished") >= 300
    assert count(run, "void") == count(run, "unfinished") == 0
    calls = [logged for logged in logged_calls(run) if logged.match]
    assert {logged.call.status for logged in calls} == {CallStatus.OK}
    assert len(calls) == 3 * count(run, "finished")
    assert most_at_once(calls) >= 190
