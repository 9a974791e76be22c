"""Runs a file in the sandbox and prints one line of JSON.

    python -m llmarena_envs.sandbox PROGRAM.py [--timeout SECONDS] [--backend NAME]

The fields are status, detail, output, cut, seconds, backend and in_force. Exit codes: 0 the program came to its end; 1 it did
not (an error, a limit, killed); 2 the command line or the file cannot be read; 3 refused, because there is no isolation here.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

from llmarena_envs.sandbox.choice import BACKENDS, find_sandbox
from llmarena_envs.sandbox.protocol import Limits, Result, SandboxError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m llmarena_envs.sandbox", description="Runs a file in the sandbox and prints one line of JSON."
    )
    parser.add_argument("program", type=Path, help="a file of Python")
    parser.add_argument("--timeout", type=float, default=Limits.seconds, help="seconds of wall and processor time")
    parser.add_argument("--memory", type=int, default=Limits.memory, help="bytes of address space")
    parser.add_argument("--output", type=int, default=Limits.output, help="bytes printed")
    parser.add_argument(
        "--backend",
        choices=["auto", *BACKENDS],
        default="auto",
        help="by default the first that isolates here; unisolated protects nothing",
    )
    given = parser.parse_args(arguments)
    try:
        limits = replace(
            Limits(), seconds=given.timeout, cpu_seconds=given.timeout, memory=given.memory, output=given.output
        )
        program = given.program.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        parser.error(str(error))
    try:
        result = find_sandbox(given.backend).run(program, limits=limits)
    except SandboxError as error:
        result = Result("refused", "", False, 0.0, given.backend, {}, detail=str(error))
    shown = {entry.name: getattr(result, entry.name) for entry in fields(result) if entry.name != "values"}
    print(json.dumps({**shown, "in_force": dict(result.in_force), "seconds": round(result.seconds, 3)}))
    return {"ok": 0, "refused": 3}.get(result.status, 1)


if __name__ == "__main__":
    sys.exit(main())
