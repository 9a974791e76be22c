"""Virtual environments for the clients, and clients run in other interpreters."""

import json
import os
import shutil
import signal
import subprocess
import sys
import venv
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.clients.report import HERE, Report, failed, from_json

ROOT = HERE.parents[1]

_AT_ONCE = 2
_SECONDS = 1800
_SMOKE_SECONDS = 300
_ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}
"""The surroundings of a client: its networks are too small for more threads to be worth their while."""

_LAST_LINES = 3


def make_virtual_environment(group: str, directory: Path) -> Path:
    """Makes the virtual environment of a group of clients, with ``uv`` if it is there, else with ``pip``.

    Args:
        group: name of a file below ``requirements``.
        directory: where to make it.

    Returns:
        The interpreter in it.

    Raises:
        RuntimeError: if something cannot be installed, with the last lines of what the installer said.
    """
    python = directory / "bin" / "python"
    wanted = [str(ROOT), "-r", str(HERE / "requirements" / f"{group}.txt")]
    uv = shutil.which("uv")
    surroundings = dict(os.environ)
    if uv:
        surroundings.setdefault("UV_FIND_LINKS", os.environ.get("PIP_FIND_LINKS", ""))
        _install([uv, "venv", "-q", "--python", sys.executable, str(directory)], surroundings)
        _install([uv, "pip", "install", "-q", "--python", str(python), *wanted], surroundings)
    else:
        venv.create(directory, with_pip=True)
        _install([str(python), "-m", "pip", "install", "-q", *wanted], surroundings)
    return python


def run_elsewhere(python: Path, clients: Sequence[str], smoke: bool) -> list[Report]:
    """Runs clients, each in a process of its own, two at a time.

    Args:
        python: the interpreter.
        clients: their names.
        smoke: whether to run the fewest steps.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda client: _run_elsewhere(python, client, smoke), clients))


def _run_elsewhere(python: Path, client: str, smoke: bool) -> Report:
    seconds = _SMOKE_SECONDS if smoke else _SECONDS
    with TemporaryDirectory() as name:
        directory = Path(name)
        command = [str(python), "-m", "benchmarks.clients", client, "--out", name, *["--smoke"] * smoke]
        errors = directory / "errors.txt"  # no pipe, which a library's servers would keep open
        with errors.open("w", encoding="utf-8") as stream:
            process = subprocess.Popen(
                command, cwd=ROOT, env=_ONE_THREAD, stdout=subprocess.DEVNULL, stderr=stream, start_new_session=True
            )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return failed(client, f"not finished within {seconds} s")
        finally:
            _end_group(process)
        written = directory / f"{client}.json"
        if not written.exists():
            said = errors.read_text(encoding="utf-8", errors="replace")
            return failed(client, f"ended with code {process.returncode}: {_end(said)}")
        return from_json(json.loads(written.read_text(encoding="utf-8")))


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _install(command: list[str], surroundings: dict[str, str]) -> None:
    process = subprocess.run(command, env=surroundings, capture_output=True, text=True, errors="replace")
    if process.returncode:
        raise RuntimeError(f"{' '.join(command[:3])}: {_end(process.stderr)}")


def _end(text: str) -> str:
    return " / ".join(text.strip().splitlines()[-_LAST_LINES:])
