"""Client and server killed at random, and the run resumed, it is the one that its cassette gives undisturbed."""

import json
import random
import subprocess
import sys
import time
from contextlib import closing

import pytest

from agents.models.cache import FILE, ReplyCache
from rating.cli import main
from rating.play import run_directory
from rating.store.records import VOID
from tests.support.fickle_server import FickleServer

RUN_FILE = """
seed = 5
max_errors = 100000
tries = 2
concurrency = 16
stop = {{ min_matches = {matches}, max_matches = {matches}, matches = {matches} }}

[[environment]]
name = "tictactoe_v0"

[[environment]]
name = "bid_v0"

[[policy]]
spec = "random"

[[policy]]
name = "one"
spec = "openai:one"
options = {{ base_url = "{url}", max_attempts = 3, deadline = 5.0, temperature = 1.0 }}

[[policy]]
name = "two"
spec = "openai:two"
options = {{ base_url = "{url}", max_attempts = 3, deadline = 5.0, history = "full", send_seed = true }}
"""


def start(*arguments):
    command = [sys.executable, "-m", "rating.cli", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finish(process):
    _, errors = process.communicate(timeout=240)
    return process.returncode, errors


def wait_for(condition, process):
    end = time.monotonic() + 120
    while not condition() and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.002)


def read(directory, capsys):
    """Returns the play digest of a run, its leaderboards, and how many of its matches are void."""
    _, store = run_directory.open_run(directory)
    with closing(store):
        digest, void = store.digest(), store.statuses().get(VOID, 0)
    capsys.readouterr()
    assert main(["rate", str(directory), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return digest, found["leaderboards"], void


@pytest.mark.slow
@pytest.mark.timeout(500)
def test_a_disturbed_run_is_the_one_that_its_cassette_gives(tmp_path, capsys):
    matches, kills = 20, 3
    rng = random.Random(kills)
    server = FickleServer(kills, tmp_path / "answered")
    cassette, disturbed, fresh = tmp_path / "cassette", tmp_path / "run", tmp_path / "fresh"
    run_file = tmp_path / "run.toml"
    run_file.write_text(RUN_FILE.format(url=server.url, matches=matches))
    with server.running():
        process = start("run", run_file, "--cache", cassette, "--out", disturbed)
        for _ in range(kills):
            moment = server.answered + rng.randint(5, 15 * matches // kills)
            wait_for(lambda moment=moment: server.answered >= moment, process)
            server.kill()
            time.sleep(rng.uniform(0, 1.5))
            is_back = rng.random() < 0.5
            if is_back:  # before the client dies too
                server.start()
                time.sleep(rng.uniform(0, 1.5))
            process.kill()
            finish(process)
            if not is_back:
                server.start()
            process = start("resume", disturbed, "--cache", cassette)
        code, errors = finish(process)
        for _ in range(5):  # matches that were void, since the server was away for too long
            if code == 0:
                break
            code, errors = finish(start("resume", disturbed, "--cache", cassette))
        assert code == 0, errors
    code, errors = finish(start("run", run_file, "--cache", cassette, "--offline", "--out", fresh))
    assert code == 0, errors
    digest, boards, void = read(disturbed, capsys)
    assert void == 0
    assert read(fresh, capsys) == (digest, boards, 0)
    assert main(["replay", str(fresh), "--verify"]) == 0


def test_offline_run_voids_matches_with_missing_replies(tmp_path, capsys):
    cassette, run_file = tmp_path / "cassette", tmp_path / "run.toml"
    run_file.write_text(RUN_FILE.format(url="http://127.0.0.1:1/v1", matches=4))
    ReplyCache(cassette).close()
    assert main(["run", str(run_file), "--cache", str(cassette), "--offline", "--out", str(tmp_path / "run")]) == 3
    errors = capsys.readouterr().err
    assert "the reply is not in the cache, and nothing is sent offline" in errors
    assert "match 0 is void" in errors
    assert main(["resume", str(tmp_path / "run"), "--offline"]) == 2
    assert "--cache DIR" in capsys.readouterr().err
    (cassette / FILE).write_bytes(b"something else")
    assert main(["resume", str(tmp_path / "run"), "--cache", str(cassette), "--offline"]) == 2
    assert FILE in capsys.readouterr().err
