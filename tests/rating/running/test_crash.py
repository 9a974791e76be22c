"""A run that is killed and resumed ends like one that never was."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

RUN = [
    "--env",
    "tictactoe_v0",
    "--env",
    "connect_four_v0",
    "--policy",
    "random",
    "--policy",
    "greedy",
    "--policy",
    "first_legal",
]
SETTINGS = ["--seed", "11", "--max-matches", "60"]


def llmarena(*arguments: object, wait: bool = True) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "rating.cli", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    if wait:
        process.output, process.errors = process.communicate(timeout=300)
    return process


def leaderboards(directory: Path) -> bytes:
    process = llmarena("rate", directory, "--json")
    assert process.returncode == 0, process.errors
    return process.output


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_at_three_random_moments_and_resumed_gives_the_same_leaderboard(tmp_path, workers):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert llmarena("run", *RUN, *SETTINGS, "--workers", 1, "--out", whole).returncode == 0
    rng = random.Random(workers)
    process = llmarena("run", *RUN, *SETTINGS, "--workers", workers, "--out", killed, wait=False)
    while not (killed / "run.db").exists():
        time.sleep(0.01)
    for _ in range(3):
        time.sleep(rng.uniform(0.2, 2.0))
        process.kill()
        process.communicate()
        process = llmarena("resume", killed, wait=False)
    assert process.wait(timeout=300) == 0, process.stderr.read()
    process.communicate()
    assert leaderboards(killed) == leaderboards(whole)
    verified = llmarena("replay", killed, "--verify")
    assert verified.returncode == 0, verified.errors


@pytest.mark.parametrize("delay", [0.1, 0.3, 1.0])
def test_an_interruption_from_the_keyboard_shows_no_trace(tmp_path, delay):
    out = tmp_path / "run"
    process = llmarena(
        "run", *RUN, "--min-matches", 5000, "--max-matches", 5000, "--workers", 2, "--out", out, wait=False
    )
    while not (out / "run.db").exists():
        time.sleep(0.01)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too, whatever they are at
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.decode().endswith(f"The run goes on with: llmarena resume {out}\nllmarena: interrupted\n")
    assert "Traceback" not in errors.decode()
    leaderboards(out)


def running(group: int) -> list[str]:
    """Lists the processes of a group that have not ended; those nobody has waited for yet are zombies."""
    listed = subprocess.run(["ps", "-ewwo", "pgid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [arguments for owner, state, arguments in rows if owner == str(group) and not state.startswith("Z")]


def test_no_worker_outlives_a_run_that_is_killed(tmp_path):
    endless = ["--env", "tictactoe_v0", "--policy", "random", "--policy", "tests.rating.players:NeverAnswers"]
    process = llmarena("run", *endless, "--workers", 2, "--out", tmp_path / "run", wait=False)
    for _ in range(600):
        if sum("spawn_main" in arguments for arguments in running(process.pid)) == 2:
            break
        time.sleep(0.1)
    time.sleep(1)
    process.kill()
    process.communicate()
    for _ in range(100):
        if not running(process.pid):
            break
        time.sleep(0.1)
    else:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError("workers were still running")
