"""The check in a process of its own, for callers whom no signal can interrupt: other threads, other systems."""

import contextlib
import faulthandler
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from llmarena_envs.testing.trial import ConformanceError, Trial, shown

BEGUN = "rule: "
BROKEN = "broken: "
PASSED = "passed"

Watch = Callable[[str], AbstractContextManager[None]]
"""Limits the time of the rule of that name."""


def import_path() -> list[str]:
    """Returns where this process finds modules, so that others find the same."""
    return [entry or str(Path.cwd()) for entry in sys.path]


def check_elsewhere(trial: Trial, time_limit: float) -> None:
    """Checks all rules in another process, which ends itself when one of them takes too long, whatever it is doing.

    Raises:
        ConformanceError: for the first rule that is broken.
        ValueError: if the environment cannot be sent to another process.
    """
    try:
        if trial.env_fn.__module__ == "__main__":
            raise pickle.PicklingError(f"{trial.env_fn} is defined in __main__")
        task = pickle.dumps((trial, time_limit))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            "time_limit: outside the main thread, and on systems without interval timers, the rules are checked in another "
            f"process; expected arguments that can be pickled, got: {error}; call from the main thread, or pass time_limit=None"
        ) from error
    path = import_path()
    process = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import serve; serve()"],
        input=pickle.dumps((path, task)),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        check=False,
    )
    _report(process.stdout.decode(errors="replace").splitlines(), process.stderr.decode(errors="replace"), time_limit)


def _report(lines: list[str], errors: str, time_limit: float) -> None:
    """Raises what the process found; other lines of its output come from environments that print."""
    if PASSED in lines:
        return
    for line in lines:
        if line.startswith(BROKEN):
            raise ConformanceError(*json.loads(line.removeprefix(BROKEN)))
    begun = [line.removeprefix(BEGUN) for line in lines if line.startswith(BEGUN)]
    if not begun:
        raise ValueError(f"expected an environment that another process can import, got {shown(errors)}")
    raise ConformanceError(
        begun[-1], "another process", f"an end within time_limit = {time_limit:g} seconds", shown(errors)
    )


def serve() -> None:
    """Checks the trial on the standard input; tells on the standard output which rule has begun, and what came of it."""
    from llmarena_envs.testing.check import check_rules  # which needs this module to send its trials here

    path, task = pickle.load(sys.stdin.buffer)
    sys.path[:] = path
    trial, time_limit = pickle.loads(task)

    @contextlib.contextmanager
    def watch(rule: str) -> Iterator[None]:
        print(f"\n{BEGUN}{rule}", flush=True)
        faulthandler.dump_traceback_later(time_limit, exit=True)
        yield
        faulthandler.cancel_dump_traceback_later()

    try:
        check_rules(trial, watch)
    except ConformanceError as error:
        print(f"\n{BROKEN}{json.dumps(error.args)}", flush=True)
    else:
        print(f"\n{PASSED}", flush=True)
