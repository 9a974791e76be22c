"""Gives the environments to other libraries and prints a table of the results: ``python -m benchmarks.clients``.

    python -m benchmarks.clients sb3 torchrl           # in this interpreter, which must have these libraries
    python -m benchmarks.clients together --smoke      # the clients of one requirements file

Several clients run in a process each. The command fails (1) if a script of the documentation fails, or if a library refuses an
environment that it is not known to refuse.
"""

import argparse
import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.clients.table import table
from benchmarks.clients.trials import ACCEPTED, REFUSED, Row, attempt, reason_of, run_trials

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

GROUPS = {
    "together": (
        "pettingzoo",
        "gymnasium_vector",
        "supersuit",
        "sb3",
        "tianshou",
        "torchrl",
        "langchain",
        "shimmy",
    ),
    "rllib": ("rllib",),
    "agilerl": ("agilerl",),
}
"""The clients that share one virtual environment, by the name of the file below ``requirements`` that lists its packages."""

CLIENTS = tuple(client for clients in GROUPS.values() for client in clients)
SCRIPT = "script"
"""The trial that runs the script of the documentation."""

_AT_ONCE = 2
_TRIAL_SECONDS = 120
_SECONDS = 1800
_SMOKE_SECONDS = 300
_LAST_LINES = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    options = _parser().parse_args(arguments)
    clients = list(dict.fromkeys(client for name in options.clients for client in GROUPS.get(name, (name,))))
    if len(clients) == 1:
        rows = run_client(clients[0], options.smoke)
    else:
        rows = run_elsewhere(Path(sys.executable), clients, options.smoke)
    print(table([row for row in rows if row.trial != SCRIPT or row.verdict != ACCEPTED]))
    if options.json:
        text = json.dumps([row._asdict() for row in rows], indent=1, ensure_ascii=False)
        Path(options.json).write_text(text + "\n", encoding="utf-8")
    failures = [row for row in rows if row.verdict == REFUSED and not row.is_known]
    for row in failures:
        print(f"refused: {row.client} | {row.trial} | {row.form} | {row.game}: {row.reason}", file=sys.stderr)
    return 1 if failures else 0


def run_client(client: str, smoke: bool) -> list[Row]:
    """Runs a client's script and trials in this interpreter.

    Args:
        client: one of ``CLIENTS``.
        smoke: whether to run the fewest steps.
    """
    try:
        module = import_module(f"benchmarks.clients.{client}")
    except ImportError as error:
        return [failed(client, reason_of(error))]
    error_of_script = attempt(lambda: runpy.run_path(str(HERE / "scripts" / f"{client}.py")), _TRIAL_SECONDS)
    script = Row(client, SCRIPT, "", "", REFUSED if error_of_script else ACCEPTED, reason_of(error_of_script))
    return [script, *run_trials(client, module.TRIALS, smoke, _TRIAL_SECONDS)]


def failed(client: str, reason: str) -> Row:
    """Returns the row of a client whose trials did not run, or not to their end."""
    return Row(client, "all trials", "", "", REFUSED, reason)


def run_elsewhere(python: Path, clients: Sequence[str], smoke: bool) -> list[Row]:
    """Runs clients, each in a process of its own, two at a time.

    Args:
        python: the interpreter.
        clients: their names.
        smoke: whether to run the fewest steps.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [row for rows in pool.map(lambda client: _run_elsewhere(python, client, smoke), clients) for row in rows]


def _run_elsewhere(python: Path, client: str, smoke: bool) -> list[Row]:
    seconds = _SMOKE_SECONDS if smoke else _SECONDS
    with TemporaryDirectory() as name:
        written, errors = Path(name) / "rows.json", Path(name) / "errors.txt"
        command = [str(python), "-m", "benchmarks.clients", client, "--json", str(written), *["--smoke"] * smoke]
        surroundings = {**os.environ, "OMP_NUM_THREADS": "1"}  # the networks are too small for more threads
        with errors.open("w", encoding="utf-8") as stream:  # no pipe, which a library's servers would keep open
            process = subprocess.Popen(
                command, cwd=ROOT, env=surroundings, stdout=subprocess.DEVNULL, stderr=stream, start_new_session=True
            )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return [failed(client, f"not finished within {seconds} s")]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with all that it started
            process.wait()
        if not written.exists():
            last = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-_LAST_LINES:]
            return [failed(client, f"ended with code {process.returncode}: {' / '.join(last)}")]
        return [Row(**row) for row in json.loads(written.read_text(encoding="utf-8"))]


def _name(text: str) -> str:
    known = dict.fromkeys([*CLIENTS, *GROUPS])
    if text not in known:
        raise argparse.ArgumentTypeError(f"expected one of {', '.join(known)}, got {text!r}")
    return text


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.clients",
        description=(__doc__ or "").split("\n")[0],
        allow_abbrev=False,
    )
    parser.add_argument(
        "clients",
        nargs="+",
        metavar="CLIENT",
        type=_name,
        help=f"clients ({', '.join(CLIENTS)}), or files of requirements ({', '.join(GROUPS)})",
    )
    parser.add_argument("--smoke", action="store_true", help="the fewest steps, on every environment all the same")
    parser.add_argument("--json", help="file to write the rows to, as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
