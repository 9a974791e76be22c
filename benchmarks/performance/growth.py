"""Cost of a run by its size: processor time of the commands and size of the database, for runs of several lengths.

    python -m benchmarks.performance.growth
    python -m benchmarks.performance.growth --matches 1000 4000 --json result.json

Every run is one of tic-tac-toe between two scripted policies that take no time, on one worker, to measure the
harness. Each command is a process of its own, and its figure is that process's processor time, start included; nothing here
knows more of the harness than its command line. If nothing grows faster than the run, a figure divided by the number of
matches goes down to a constant.
"""

import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.options import option, parse

COMMANDS = ("rate", "report", "resume", "verify")
"""Commands measured on the finished run, besides playing it."""


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    matches: tuple[str, ...] = option(("1000", "4000", "10000", "50000"), "lengths of the runs, in matches")
    json: str = option("", "file to write the result to, as JSON")
    smoke: bool = option(False, "one short run, which only shows that everything runs")


@dataclass(frozen=True)
class Growth:
    """What one run came to.

    Attributes:
        matches: matches played.
        seconds: processor time of each command, in seconds.
        megabytes: size of the database, in millions of bytes.
    """

    matches: int
    seconds: dict[str, float]
    megabytes: float


def measure(matches: int, directory: Path) -> Growth:
    """Plays a run and measures it.

    Args:
        matches: its length; a few more can be played, since batches are finished.
        directory: an empty one for the run file and the run.
    """
    run_file, run = directory / "growth.toml", directory / "run"
    run_file.write_text(_run_file(matches), encoding="utf-8")
    seconds = {"run": _processor_time("run", run_file, "--out", run)}
    for command in COMMANDS:
        arguments = ("replay", run, "--verify") if command == "verify" else (command, run)
        seconds[command] = _processor_time(*arguments)
    boards = json.loads(_llmarena("rate", run, "--json"))["leaderboards"]
    size = sum(path.stat().st_size for path in run.glob("run.db*"))
    return Growth(boards[0]["matches"], seconds, size / 1e6)


def table(results: list[Growth]) -> str:
    """Returns the results as a table in Markdown."""
    lines = [
        f"| matches | {' | '.join(f'{name}, s' for name in ('run', *COMMANDS))} | database, MB | bytes a match |",
        f"|{'---|' * (len(COMMANDS) + 4)}",
    ]
    for result in results:
        seconds = " | ".join(f"{result.seconds[name]:.1f}" for name in ("run", *COMMANDS))
        bytes_each = 1e6 * result.megabytes / result.matches
        lines.append(f"| {result.matches:,} | {seconds} | {result.megabytes:.1f} | {bytes_each:.0f} |")
    return "\n".join(lines)


def main(options: Options) -> list[Growth]:
    """Measures runs of all lengths and prints the table."""
    results = []
    for matches in ("20",) if options.smoke else options.matches:
        with tempfile.TemporaryDirectory() as directory:
            results.append(measure(int(matches), Path(directory)))
    print(table(results))
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(result) for result in results], indent=2), encoding="utf-8")
    return results


def _run_file(matches: int) -> str:
    return f"""seed = 1
executor = "asyncio"

[stop]
min_matches = {matches}
max_matches = {matches}

[[environment]]
name = "tictactoe_v0"

[[policy]]
spec = "random"

[[policy]]
spec = "first_legal"
"""


def _processor_time(*arguments: object) -> float:
    """Returns the processor time of a command, user and system, with its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _llmarena(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _llmarena(*arguments: object) -> str:
    command = [sys.executable, "-m", "rating.cli", *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


if __name__ == "__main__":
    main(parse(Options, __doc__))
