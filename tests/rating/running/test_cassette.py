"""Killed and resumed at random, with a server that comes and goes, a run is the one that its cassette gives undisturbed."""

import json
import random
import re
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager

import pytest

from agents.models.cache import FILE, ReplyCache
from rating.cli import main
from rating.records.outcome import VOID
from rating.running import run_directory
from tests.support.hostile_server import HostileServer, error, say

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


class FickleServer:
    """A server that comes and goes, and never answers the same twice: a legal or a bad move, in one of many wordings.

    Args:
        seed: of what it says.
    """

    def __init__(self, seed):
        self._rng = random.Random(seed)
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/v1"
        self.answered = 0
        self._server = None

    @contextmanager
    def running(self):
        self.start()
        try:
            yield
        finally:
            self.stop()

    def start(self):
        self._server = HostileServer(self._answers(), self._port)

    def stop(self):
        self._server.close()

    def _answers(self):
        while True:
            asked = "\n".join(message["content"] for message in self._server.requests[-1].body["messages"])
            self.answered += 1
            yield self._answer(asked)

    def _answer(self, asked):
        rng = self._rng
        if rng.random() < 0.03:
            return error(503)
        if "player_" not in asked:
            return say("ready")  # to what is asked before anything is played
        mark = re.search(r"You play (\w)\.", asked)
        if mark:
            move = f"{mark[1]}: ({rng.randint(1, 3)}, {rng.randint(1, 3)})"
        else:
            move = f"{re.findall(r'player_[0-9]', asked)[-1]}: ${rng.randint(0, 9)}.{rng.randint(0, 99):02}"
        text = f"Thought {rng.random()}.\n{move}" if rng.random() < 0.8 else f"I cannot decide: {rng.random()}"
        return say(text, rng.choice(["stop", "stop", "length"]), delay=rng.uniform(0, 0.02))


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
    boards = [table for table in json.loads(capsys.readouterr().out) if "costs" not in table]  # those differ
    return digest, boards, void


@pytest.mark.timeout(500)
@pytest.mark.parametrize(
    ("matches", "kills"), [(8, 1), pytest.param(60, 6, marks=pytest.mark.slow)], ids=["once", "many times"]
)
def test_a_disturbed_run_is_the_one_that_its_cassette_gives(tmp_path, capsys, matches, kills):
    rng = random.Random(kills)
    server, cassette, disturbed, fresh = (
        FickleServer(kills),
        tmp_path / "cassette",
        tmp_path / "run",
        tmp_path / "fresh",
    )
    run_file = tmp_path / "run.toml"
    run_file.write_text(RUN_FILE.format(url=server.url, matches=matches))
    with server.running():
        process = start("run", run_file, "--cache", cassette, "--out", disturbed)
        for _ in range(kills):
            moment = server.answered + rng.randint(5, 15 * matches // kills)
            wait_for(lambda moment=moment: server.answered >= moment, process)
            if rng.random() < 0.5:
                server.stop()
                time.sleep(rng.uniform(0, 1.5))
                server.start()
            process.kill()
            finish(process)
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


def test_offline_a_reply_that_is_missing_makes_its_match_void_and_says_so(tmp_path, capsys):
    server, cassette, run_file = FickleServer(0), tmp_path / "cassette", tmp_path / "run.toml"
    run_file.write_text(RUN_FILE.format(url=server.url, matches=4))
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
