"""What a match costs in a long run: in SQLite and PostgreSQL, with several processes.

    python -m benchmarks.performance.scale
    python -m benchmarks.performance.scale --matches 1000 --stores postgresql --workers 1 2
    python -m benchmarks.performance.scale --store postgresql://USER@HOST/DATABASE

Stores are filled to a number of matches first, and then some more are played and timed: tic-tac-toe between four scripted
policies that take no time, so that what is measured is the harness. Several workers are processes of a pool, for which one
process writes. Without ``--store`` a PostgreSQL server is started for the benchmark; it waits for the disk.
"""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sqlalchemy import text

from benchmarks.options import option, parse
from benchmarks.performance.filling import Copies, copy_to_server, make_filled
from benchmarks.postgres_server import PostgresServer
from rating.config.run_tables import ExecutorName
from rating.play import run_directory
from rating.play.runner import Runner
from rating.play.session import Session
from rating.store import location, postgres
from rating.store.address import parse_address

SQLITE, POSTGRESQL = "sqlite", "postgresql"

_TIMED = (0.2, 0.8)
"""Between which shares of the matches the clock runs.

Before, nothing is warm; at the end a schedule that depends on no results is told all at once, those of the filled store too.
"""


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    matches: tuple[str, ...] = option(("1000", "10000", "100000"), "matches before the clock starts", smoke=("60",))
    more: int = option(2_000, "matches that are played and timed", smoke=120)
    workers: tuple[str, ...] = option(("1", "2", "4"), "workers", smoke=("1",))
    rounds: int = option(3, "how often each of these is measured, in turns; what is told are the medians", smoke=1)
    stores: tuple[str, ...] = option((SQLITE, POSTGRESQL), "stores")
    store: str = option("", "address of a database for the runs of the benchmark, which are deleted afterwards")
    json: str = option("", "file to write the result to, as JSON")
    smoke: bool = option(False, "a short run, which only shows that everything runs")


@dataclass(frozen=True)
class Cost:
    """What matches cost in a run of a certain length.

    Attributes:
        store: in which they are recorded.
        matches: that were in it before.
        workers: that play.
        a_second: matches a second.
        turn: milliseconds for which the store keeps who enters a turn.
        megabytes: size of the database before, in millions of bytes.
    """

    store: str
    matches: int
    workers: int
    a_second: float
    turn: float
    megabytes: float


class Bench:
    """Where the runs of the benchmark are made.

    Args:
        folder: for directories of runs.
        url: of a database in PostgreSQL; empty if none is used.
    """

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._url = url
        self._number = 0

    def directory(self) -> Path:
        """Returns the path of a new directory."""
        self._number += 1
        return self._folder / f"scale-{self._number}"

    def filled(self, matches: int, more: int) -> Path:
        """Makes a run in SQLite that is filled, with more to play."""
        directory = self.directory()
        make_filled(directory, matches, more)
        return directory

    @contextmanager
    def copied(self, filled: Path, store: str) -> Iterator[Path]:
        """Makes the directory of a copy of a run, which is deleted afterwards."""
        directory = self.directory()
        if store == SQLITE:
            directory.mkdir()
            for file in filled.iterdir():
                (directory / file.name).write_bytes(file.read_bytes())
            yield directory
            return
        address = parse_address(self._url).of(directory.name)
        copy_to_server(filled, directory, address)
        try:
            yield directory
        finally:
            postgres.drop(address)


def measure(bench: Bench, filled: Path, store: str, matches: int, workers: int) -> Cost:
    """Plays what is left of a run that is filled, and measures that.

    Args:
        bench: where.
        filled: directory of the run.
        store: in which a copy of it is played.
        matches: that it is filled with.
        workers: that play.
    """
    with bench.copied(filled, store) as directory:
        megabytes = _size(directory) / 1e6
        text = run_directory.read_run_file(directory)
        run_directory.replace_run_file(directory, f"workers = {workers}\n{text}")
        executor: ExecutorName = "asyncio" if workers == 1 else "process"
        a_second = _play(directory, Session(executor=executor))
        return Cost(store, matches, workers, a_second, _turn_time(directory), megabytes)


def measure_growth(bench: Bench, options: Options) -> list[Cost]:
    """Measures what matches cost in stores of all lengths, in turns; returns the medians."""
    filled = {matches: bench.filled(matches, options.more) for matches in map(int, options.matches)}
    found: dict[tuple[str, int, int], list[Cost]] = {
        (store, matches, int(workers)): []
        for matches in filled
        for store in options.stores
        for workers in options.workers
    }
    for _ in range(options.rounds):
        for (store, matches, workers), costs in found.items():
            costs.append(measure(bench, filled[matches], store, matches, workers))
            print(f"{asdict(costs[-1])}", flush=True)
    return [_median(costs) for costs in found.values()]


def _median(costs: list[Cost]) -> Cost:
    return replace(
        costs[0],
        a_second=statistics.median(cost.a_second for cost in costs),
        turn=statistics.median(cost.turn for cost in costs),
        megabytes=statistics.median(cost.megabytes for cost in costs),
    )


def _play(directory: Path, session: Session) -> float:
    """Plays a run to its end and returns how many matches a second that were, in the middle of it."""
    run, store = run_directory.reopen_run(directory)
    with run_directory.held(directory, store):
        runner, looks = Runner(run, store, session), list[tuple[float, int]]()

        async def watched() -> None:
            watching = asyncio.create_task(watch())
            await runner.run()
            watching.cancel()
            look()

        async def watch() -> None:
            while True:
                look()
                await asyncio.sleep(0.02)

        def look() -> None:
            looks.append((time.perf_counter(), sum(item.played for item in runner.progress().environments)))

        asyncio.run(watched())
    played = looks[-1][1]
    begin, end = (next(look for look in looks if look[1] >= share * played) for share in _TIMED)
    return (end[1] - begin[1]) / (end[0] - begin[0])


def _turn_time(directory: Path) -> float:
    """Returns how many milliseconds it takes to enter a turn, in the median, in a run that has been played."""
    with closing(run_directory.open_store(directory)) as store:
        record = next(store.records())
        match = replace(record.match, number=10**9)
        store.add_match(match)
        _, episode = Copies(match.options).of(record.match)
        seconds: list[float] = []
        for turn in episode.turns * 20:
            begin = time.perf_counter()
            store.add_turn(match, replace(turn, index=len(seconds)))
            seconds.append(time.perf_counter() - begin)
        return 1e3 * statistics.median(seconds)


def _size(directory: Path) -> int:
    """Returns the size of the database of a run, in bytes."""
    address = location.address_of(directory)
    if address is None:
        return sum(path.stat().st_size for path in directory.glob("run.db*"))
    with closing(postgres.open_existing(address)) as db:
        row = db.row(
            text(
                "SELECT CAST(sum(pg_total_relation_size(class.oid)) AS bigint) FROM pg_class AS class"
                " JOIN pg_namespace AS space ON space.oid = class.relnamespace WHERE nspname = :schema AND relkind = 'r'"
            ),
            {"schema": address.schema},
        )
        return int(row[0]) if row else 0


def growth_table(costs: list[Cost]) -> str:
    """Returns what matches cost as a table in Markdown."""
    lines = [
        "| store | workers | matches before | matches a second | cost, of that at the fewest | a turn, ms | MB | bytes a match |",
        f"|{'---|' * 8}",
    ]
    first: dict[tuple[str, int], Cost] = {}
    for cost in sorted(costs, key=lambda cost: (cost.store, cost.workers, cost.matches)):
        least = first.setdefault((cost.store, cost.workers), cost)
        lines.append(
            f"| {cost.store} | {cost.workers} | {cost.matches:,} | {cost.a_second:.0f} | {least.a_second / cost.a_second:.2f}"
            f" | {cost.turn:.2f} | {cost.megabytes:.1f} | {1e6 * cost.megabytes / cost.matches:.0f} |"
        )
    return "\n".join(lines)


def main(options: Options) -> list[Cost]:
    """Measures and prints everything."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = options.store
        if not url and POSTGRESQL in options.stores:
            url = stack.enter_context(PostgresServer(durable=True)).new_database()
        costs = measure_growth(Bench(folder, url), options)
    print(growth_table(costs), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(cost) for cost in costs], indent=2), encoding="utf-8")
    return costs


if __name__ == "__main__":
    main(parse(Options, __doc__))
