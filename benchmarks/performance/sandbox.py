"""Cost of the sandbox: seconds a program compared with the bare interpreter, and many programs at once.

    python -m benchmarks.performance.sandbox

Each backend that isolates on this machine runs the same ordinary solution with one call, alternating with the bare interpreter
running the same solution and printing the answer. Then many programs run on two threads; afterwards no process of theirs is
left, or the benchmark fails.
"""

import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.options import option, parse
from llmarena_envs.sandbox import Sandbox, SandboxError, find_sandbox
from llmarena_envs.sandbox.choice import ISOLATING
from llmarena_envs.sandbox.interpreter import ENVIRONMENT, executable

SOLUTION = """
from collections import Counter
from dataclasses import dataclass
import heapq
import itertools
import math
import re

@dataclass(order=True)
class Word:
    count: int
    text: str

def commonest(text, n):
    counts = Counter(re.findall(r"[a-z]+", text.lower()))
    return [w.text for w in heapq.nlargest(n, (Word(c, t) for t, c in counts.items()))]
"""
CALL = "commonest('the cat and the dog and the bird', 2)"
ANSWER = ["the", "and"]
MARK = "SANDBOX_BENCHMARK"


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    rounds: int = option(40, "programs of each backend, one after the other", smoke=2)
    programs: int = option(200, "programs at once", smoke=8)
    threads: int = option(2, "threads that start them")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Line:
    """One line of the table, in milliseconds.

    Attributes:
        backend: that ran the programs; "bare" for the interpreter alone.
        median: of a program, alone on the machine.
        extra: the median of the differences to the bare interpreter in the same round.
        each: of wall time for a program where many run at once.
        left: processes that are left over.
    """

    backend: str
    median: float
    extra: float
    each: float
    left: int


def run(options: Options) -> list[Line]:
    """Measures every backend that isolates here."""
    ENVIRONMENT[MARK] = MARK
    bare, lines = [], []
    for name in ISOLATING:
        try:
            sandbox = find_sandbox(name)
        except SandboxError:
            continue
        pairs = [(_bare(), _sandboxed(sandbox)) for _ in range(options.rounds)]
        bare += [first for first, _ in pairs]
        began = time.perf_counter()
        with ThreadPoolExecutor(options.threads) as pool:
            list(pool.map(lambda _, chosen=sandbox: _sandboxed(chosen), range(options.programs)))
        each = 1000 * (time.perf_counter() - began) / options.programs
        extra = median(second - first for first, second in pairs)
        lines.append(Line(name, median(second for _, second in pairs), extra, each, _left()))
    return [Line("bare", median(bare), 0.0, 0.0, 0), *lines] if bare else []


def _bare() -> float:
    began = time.perf_counter()
    done = subprocess.run(
        [executable(), "-S", "-c", f"{SOLUTION}\nprint({CALL})"],
        capture_output=True,
        text=True,
        check=True,
        env=ENVIRONMENT,
    )
    assert done.stdout == f"{ANSWER}\n"
    return 1000 * (time.perf_counter() - began)


def _sandboxed(sandbox: Sandbox) -> float:
    began = time.perf_counter()
    result = sandbox.run(SOLUTION, [CALL])
    assert [value.value for value in result.values] == [ANSWER], result
    return 1000 * (time.perf_counter() - began)


def _left() -> int:
    """Counts the processes that carry the benchmark's mark in their environment."""
    found = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            found += f"{MARK}={MARK}".encode() in (entry / "environ").read_bytes()
        except OSError:
            continue  # it has ended, or belongs to another user
    return found


def table(lines: Sequence[Line]) -> str:
    """Returns the lines as a Markdown table."""
    rows = ["| backend | ms a program | more than bare | ms each, many at once | left over |", "|---" * 5 + "|"]
    rows += [
        f"| {line.backend} | {line.median:.1f} | {line.extra:.1f} | {line.each:.1f} | {line.left} |" for line in lines
    ]
    return "\n".join(rows)


def main() -> None:
    """Measures and prints the table."""
    lines = run(parse(Options, __doc__))
    print(table(lines))
    if any(line.left for line in lines):
        raise SystemExit("processes are left over")


if __name__ == "__main__":
    main()
