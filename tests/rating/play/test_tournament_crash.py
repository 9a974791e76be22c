"""A tournament, or the placing of a newcomer, that is killed and resumed ends like one that never was."""

import os
import signal
import subprocess
import sys
import time

import pytest

from rating.errors import RunError
from rating.play import run_directory
from rating.store.environments import admit
from rating.store.records import FINISHED
from tests.rating.runs import left_by

pytestmark = pytest.mark.timeout(180)

JUDGED = "tests.rating.judged_env"
SLOW = "tests.rating.judged_env:SlowModel"


def command(*arguments):
    return [sys.executable, "-m", "rating.cli", *map(str, arguments)]


def run(*arguments):
    subprocess.run(command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=120)


def count(directory):
    try:
        _, store = run_directory.open_run(directory)
    except RunError:
        return 0
    number = store.counts()[JUDGED, FINISHED]
    store.close()
    return number


def killed(matches, directory, *arguments):
    """Starts a command and kills it once the run has so many matches."""
    process = subprocess.Popen(command(*arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while count(directory) < matches:
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.005)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)


@pytest.mark.slow
def test_killed_and_resumed(tmp_path):
    admit([JUDGED])  # this process reads the commands' matches
    models = "".join(
        f'[[policy]]\nname = "m{index}"\nspec = "{SLOW}"\noptions = {{ strength = {30 + 8 * index} }}\n'
        for index in range(5)
    )
    rules = "[environment.tournament]\nquestions = 6\nmin_judges = 3\n"
    (tmp_path / "run.toml").write_text(f'workers = 1\n[[environment]]\nname = "{JUDGED}"\n{rules}{models}')
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    add = ["resume", "--add", SLOW, "--name", "new", "--option", "strength=55", "--prior", "1"]
    run("run", tmp_path / "run.toml", "--out", whole)
    run(*add, whole)
    killed(15, broken, "run", tmp_path / "run.toml", "--out", broken)
    run("resume", broken)
    assert count(broken) == 36
    killed(43, broken, *add, broken)
    assert 43 <= count(broken) < 54
    run("resume", broken)
    assert left_by(broken) == left_by(whole)
    run("replay", "--verify", "--trust", broken)
