"""The check in a separate process, for callers that signals cannot interrupt: other threads, other systems."""

import contextlib
import faulthandler
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator

from llmarena_envs.testing.processes import import_path
from llmarena_envs.testing.rules import check_rules
from llmarena_envs.testing.trial import ConformanceError, Trial, shown

BEGUN = "rule: "
BROKEN = "broken: "
PASSED = "passed"


def check_in_subprocess(trial: Trial, time_limit: float) -> None:
    """Checks all rules in another process, which ends itself on a timeout of a rule.

    Raises:
        ConformanceError: for the first failed rule.
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
    """Raises the error reported by the process; other lines of its output come from environments that print."""
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
    """Checks the trial from standard input; reports the begin and result of rules on standard output."""
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
