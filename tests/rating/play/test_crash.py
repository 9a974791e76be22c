"""A run that is killed and resumed ends like one that never was."""

import os
import signal
import subprocess
import sys
import time

import pytest

from rating.errors import RunError
from rating.play import run_directory
from rating.store.records import FINISHED, VOID
from tests.rating.runs import left_by
from tests.support.processes import running

pytestmark = [pytest.mark.timeout(180), pytest.mark.slow]

HERE = "tests.rating.players"
RUN = ["--env", "tictactoe_v0", "--policy", "random", "--policy", "greedy", "--policy", f"{HERE}:Slow", "--seed", 11]
SETTINGS = ["--min-matches", 24, "--max-matches", 24]
ENDLESS = ["--min-matches", 50_000, "--max-matches", 50_000]


def end(process):
    """Waits for a command and returns its exit code and its output."""
    return process.wait(120), process.errors.read_text()


def count(directory, status=FINISHED):
    """Counts the matches of a run, which can be running or not yet begun."""
    try:
        _, store = run_directory.open_run(directory)
    except RunError:
        return 0
    number = store.counts()["tictactoe_v0", status]
    store.close()
    return number


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"did not come about within {seconds} s"
        time.sleep(0.005)


def processes(group):
    """Returns parent and command line of each live process of a group; zombies count as ended."""
    return {process.pid: (process.parent, process.command) for process in running() if process.group == group}


def pool(group):
    """Returns the workers, which are children of the server that starts them."""
    servers = {pid: parent for pid, (parent, command) in processes(group).items() if "forkserver" in command}
    return [pid for pid, parent in servers.items() if parent in servers]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that was never interrupted."""
    directory = tmp_path_factory.mktemp("whole") / "run"
    command = [sys.executable, "-m", "rating.cli", "run", *RUN, *SETTINGS, "--workers", 1, "--out", directory]
    subprocess.run(list(map(str, command)), stdout=subprocess.DEVNULL, check=True, timeout=120)
    return directory


@pytest.mark.parametrize("begun", [False, True])
def test_an_interruption_from_the_keyboard_shows_no_trace(llmarena, tmp_path, begun):
    directory = tmp_path / "run"
    process = llmarena("run", *RUN, "--policy", f"{HERE}:dawdles", *ENDLESS, "--workers", 2, "--out", directory)
    wait_for((directory / "run.toml").exists)
    wait_for(lambda: not begun or count(directory) > 5)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too, at any moment
    code, errors = end(process)
    assert code == 130
    assert errors.endswith(f"Resume with: llmarena resume {directory}\nllmarena: interrupted\n")
    assert "Traceback" not in errors
    assert "Warning" not in errors
    assert count(directory, VOID) == 0


@pytest.mark.parametrize(("workers", "second"), [(1, signal.SIGTERM), (2, signal.SIGINT)])
def test_a_second_signal_does_not_disturb_the_stop(llmarena, tmp_path, workers, second):
    directory = tmp_path / "run"
    process = llmarena("run", *RUN, *ENDLESS, "--workers", workers, "--out", directory)
    wait_for(lambda: count(directory) > 5)
    for number in (signal.SIGINT, second):
        os.killpg(process.pid, number)
    code, errors = end(process)
    assert code in (130, 143)
    assert f"Resume with: llmarena resume {directory}\nllmarena: " in errors
    assert "Traceback" not in errors
    assert "pending" not in errors
    wait_for(lambda: not processes(process.pid), 10)


def test_a_signal_ends_a_run_at_once_that_does_not_stop_in_time(llmarena, tmp_path):
    policies = ["--policy", "random", "--policy", f"{HERE}:NeverAnswers"]
    process = llmarena("run", "--env", "tictactoe_v0", *policies, "--workers", 1, "--out", tmp_path / "run")
    wait_for((tmp_path / "run" / "run.db").exists)
    time.sleep(1)  # until it is in a turn that takes for ever, in its own process
    process.terminate()
    time.sleep(2.5)
    assert process.poll() is None
    process.terminate()
    code, errors = end(process)
    assert code == 143
    assert errors.endswith("ended at once; all recorded data is safe\n")


@pytest.mark.parametrize(("workers", "ignored"), [(1, (signal.SIGINT,)), (2, ())], ids=["background", "foreground"])
def test_sigterm_stops_a_resumable_run(llmarena, tmp_path, workers, ignored):
    directory = tmp_path / "run"
    process = llmarena("run", *RUN, *ENDLESS, "--workers", workers, "--out", directory, ignored=ignored)
    wait_for(lambda: count(directory) > 5)
    if workers > 1:
        for worker in pool(process.pid):  # as a service manager does
            os.kill(worker, signal.SIGTERM)
        time.sleep(0.3)
        assert len(pool(process.pid)) == workers
    process.terminate()
    code, errors = end(process)
    assert code == 143
    assert errors.endswith(f"Resume with: llmarena resume {directory}\nllmarena: terminated\n")
    for sign in ("Traceback", "pending", "died"):
        assert sign not in errors


def test_no_worker_outlives_a_run_that_is_killed(llmarena, tmp_path):
    policies = ["--policy", "random", "--policy", f"{HERE}:NeverAnswers"]
    process = llmarena("run", "--env", "tictactoe_v0", *policies, "--workers", 2, "--out", tmp_path / "run")
    wait_for(lambda: len(pool(process.pid)) == 2)
    time.sleep(1)  # until they are in a turn that takes for ever
    assert len(pool(process.pid)) == 2
    process.kill()
    process.wait(60)
    wait_for(lambda: not processes(process.pid), 10)


def unread(*arguments, **options):
    """Runs a command with a closed pipe as standard output."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, *map(str, arguments)], stdout=writer, timeout=60, check=False, **options)
    os.close(writer)
    return done


def test_run_with_closed_output_continues_to_its_end(tmp_path, whole):
    command = ["-m", "rating.cli", "run", *RUN, *SETTINGS, "--workers", 1, "--out", tmp_path / "run"]
    assert unread(*command, stderr=subprocess.STDOUT).returncode == 0
    assert left_by(tmp_path / "run") == left_by(whole)


@pytest.mark.parametrize(("goes_on", "code", "said"), [(True, 5, b"still here\n"), (False, 0, b"")])
def test_closed_pipe_ends_commands_other_than_runs(goes_on, code, said):
    script = f"""
import sys
from rating.cli.process import closed_pipes_ignored
with closed_pipes_ignored(continues={goes_on}):
    print("x" * 100_000)
    print("still here", file=sys.stderr)
    print("x" * 100_000)
    sys.exit(5)
"""
    done = unread("-c", script, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (code, said)


def test_failures_are_printed_at_once_with_unbuffered_streams():
    script = """
import sys
from rating.cli.process import closed_pipes_ignored
with closed_pipes_ignored(continues=True):
    print("now", file=sys.stderr)
    sys.stdin.read()
"""
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", script], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr.readline() == "now\n"  # or it waits until the test's time is over
    process.communicate()


def test_command_with_closed_output_prints_no_traceback(whole):
    done = unread("-m", "rating.cli", "export", whole, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("redirection", "code", "said"), [("> /dev/full", 2, "No space left"), (">&-", 0, ""), ("2>&-", 0, "")]
)
def test_output_that_cannot_be_written_shows_no_trace(whole, redirection, code, said):
    command = f'"{sys.executable}" -m rating.cli rate "{whole}" {redirection}'
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_run_continues_without_a_way_to_show_failures(tmp_path):
    policies = ["--policy", "random", "--policy", "greedy"]
    command = ["run", "--env", "tictactoe_v0", *policies, *SETTINGS, "--workers", 1, "--out", tmp_path / "run"]
    done = subprocess.run(
        f'"{sys.executable}" -m rating.cli {" ".join(map(str, command))} > /dev/null 2> /dev/full',
        shell=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert count(tmp_path / "run") >= 24
