"""Processes with other hash seeds that play the same matches."""

import atexit
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from llmarena_envs.testing.transcript import digest, snapshot
from llmarena_envs.testing.trial import Trial

HASH_SEEDS = ("1", "2")
"""Hash seeds of the processes."""

ANSWER = "digest: "

# Reused for the next environment, because starting one takes longer than a match.
_processes: dict[str, "subprocess.Popen[bytes]"] = {}


def import_path() -> list[str]:
    """Returns the module search path of this process, for other processes."""
    return [entry or str(Path.cwd()) for entry in sys.path]


def digest_of_matches(trial: Trial) -> str:
    """Returns a digest of all observable output of the matches of a trial."""
    positions: Iterator[Any] = ((snapshot(env), env.render()) for env in trial.positions(render_mode="ansi"))
    return digest(positions)


def pickled(trial: Trial) -> bytes | None:
    """Returns a pickled trial for the processes, or ``None`` if they cannot import its environment."""
    if trial.env_fn.__module__ == "__main__":
        return None
    try:
        return pickle.dumps((trial.env_fn, dict(trial.options), tuple(trial.seeds)))
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def digests_in_subprocess(task: bytes) -> dict[str, str]:
    """Returns the result of ``digest_of_matches`` in each process, or the exception raised there, by hash seed."""
    try:
        return _answers(task)
    except BaseException:
        # Interrupted: late answers of the processes would be taken for answers to the next task.
        for process in _processes.values():
            process.kill()
        _processes.clear()
        raise


def _answers(task: bytes) -> dict[str, str]:
    processes = {hash_seed: _process(hash_seed) for hash_seed in HASH_SEEDS}
    path = import_path()
    for process in processes.values():
        assert process.stdin is not None
        pickle.dump((path, task), process.stdin)
        process.stdin.flush()
    answers = {}
    for hash_seed, process in processes.items():
        assert process.stdout is not None
        # Other lines come from environments that print.
        lines = (line.decode().strip() for line in process.stdout)
        answers[hash_seed] = next((line.removeprefix(ANSWER) for line in lines if line.startswith(ANSWER)), "no answer")
    return answers


def _process(hash_seed: str) -> "subprocess.Popen[bytes]":
    process = _processes.get(hash_seed)
    if process is None or process.poll() is not None:
        process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # keyboard interrupts are for the parent; the processes end with their input
            env={**os.environ, "PYTHONPATH": os.pathsep.join(import_path()), "PYTHONHASHSEED": hash_seed},
        )
        _processes[hash_seed] = process
        atexit.register(_stop, process)
    return process


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.communicate()


def serve() -> None:
    """Answers each task from standard input with a line with its digest, until the input ends."""
    while True:
        try:
            path, task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        sys.path[:] = path
        try:
            env_fn, options, seeds = pickle.loads(task)
            answer = digest_of_matches(Trial(env_fn, None, options, seeds))
        except Exception as error:
            answer = repr(error).replace("\n", " ")
        print(f"\n{ANSWER}{answer}", flush=True)
