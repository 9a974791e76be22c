"""A language model behind a real OpenAI-compatible server plays a rated tournament; the server is killed once."""

import contextlib
import json
import subprocess
import sys
import time

from rating.errors import RunError
from rating.running import run_directory
from tests.support.model_server import running_server

RUN_FILE = """
seed = 7
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


def test_a_model_plays_to_convergence_although_its_server_is_killed(tmp_path, tiny_model):
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
        assert board["stop_reason"] in ("mu_stable", "sigma", "cap")
        assert board["void_matches"] == board["bug_matches"] == 0
        tiny = next(row for row in board["rows"] if row["policy"] == "tiny")
        assert tiny["effort"]["matches"] >= 50
        assert tiny["effort"]["prompt_tokens"] > tiny["effort"]["completion_tokens"] > 0
        assert tiny["effort"]["forfeits"].keys() <= {"illegal", "unparsable", "truncated", "empty", "refusal"}
        assert tiny["effort"]["failures"]
    output, _ = finish(llmarena("replay", run, "--verify"), 0)
    assert "finished matches verified" in output
