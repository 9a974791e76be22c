"""A run that is killed and resumed ends like one that never was."""

import random
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
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
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
