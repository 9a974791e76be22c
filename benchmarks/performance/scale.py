"""What a match costs in a long run, on one machine and in a cluster: in SQLite and PostgreSQL, with several workers.

    python -m benchmarks.performance.scale
    python -m benchmarks.performance.scale --matches 1000 --stores postgresql --workers 1 2 --no-cluster
    python -m benchmarks.performance.scale --store postgresql://USER@HOST/DATABASE

Stores are filled to a number of matches first, and then some more are played and timed: tic-tac-toe between four scripted
policies that take no time, so that what is measured is the harness. In SQLite several workers are processes of a pool that one
process writes for; in PostgreSQL they are workers that have joined, each of which writes what it plays. The cluster is simulated
(``simulated_cluster``). Without ``--store`` a PostgreSQL server is started for the benchmark; it waits for the disk.
"""

import asyncio
import json
import multiprocessing
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np

from benchmarks.options import option, parse
from benchmarks.performance.filling import ENVIRONMENT, Copies, copy_to_server, make_filled
from benchmarks.performance.simulated_cluster import Machine, Note, read_notes, run_machine
from benchmarks.postgres_server import PostgresServer
from rating.records.postgres.address import Address, parse_address
from rating.records.postgres.claims import Claims, Kind
from rating.records.postgres.connection import Postgres
from rating.records.postgres.members import Newcomer, State
from rating.records.postgres.runs import open_existing
from rating.running import places, run_directory
from rating.running.run_tables import ExecutorName
from rating.running.runner import Runner
from rating.running.session import Session
from rating.running.workers.stay import Place
from rating.running.workers.worker import Worker

SQLITE, POSTGRESQL = "sqlite", "postgresql"

_CONTEXT = multiprocessing.get_context("spawn")

_STATEMENTS = "pg_stat_statements"
"""The extension by which a server tells how long statements take."""

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
    machines: int = option(4, "machines of the simulated cluster, each a process", smoke=2)
    per_machine: int = option(16, "workers on each of them", smoke=2)
    slots: int = option(8, "matches that each of them plays at once", smoke=4)
    trip: float = option(0.5, "milliseconds by which a round trip to the database is longer there")
    reply: float = option(1.0, "median seconds of a reply there", smoke=0.01)
    spread: float = option(0.8, "standard deviation of the logarithm of these seconds")
    cluster_matches: int = option(2_000, "matches that the cluster plays", smoke=60)
    claims: int = option(10_000, "matches that are claimed and answered as fast as can be", smoke=60)
    groups: tuple[str, ...] = option(("1", "8"), "matches that are claimed at once, at most")
    no_growth: bool = option(False, "only the cluster")
    no_cluster: bool = option(False, "only what a match costs as a run grows")
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


@dataclass(frozen=True)
class ClaimRate:
    """How fast claims can be made.

    Attributes:
        group: matches that are claimed at once, at most.
        matches: matches a second that are claimed and answered.
        claims: claims a second.
        median: milliseconds of a claim, the simulated distance included.
        p99: likewise, of the slowest hundredth.
        served: milliseconds of a claim in the server, in the mean; ``None`` if the server does not tell.
        waiting: mean number of connections that wait for a lock.
    """

    group: int
    matches: float
    claims: float
    median: float
    p99: float
    served: float | None
    waiting: float


@dataclass(frozen=True)
class Cluster:
    """What a simulated cluster came to, one of whose machines was killed.

    Attributes:
        workers: at first.
        matches: that were played.
        seconds: for which they were.
        turns: a second that were recorded, by all.
        median: milliseconds of a claim, the simulated distance included.
        p99: likewise, of the slowest hundredth.
        served: milliseconds of a claim in the server, in the mean; ``None`` if the server does not tell.
        waiting: mean number of connections that wait for a lock.
        held: matches that were under way on the machine that was killed.
        again: matches that more than one worker has claimed.
        counted: results in the store, which are one for each match.
        failed: writes that failed otherwise than since a claim was lost.
    """

    workers: int
    matches: int
    seconds: float
    turns: float
    median: float
    p99: float
    served: float | None
    waiting: float
    held: int
    again: int
    counted: int
    failed: int


class Bench:
    """Where the runs of the benchmark are made.

    Args:
        folder: for directories of runs.
        url: of a database in PostgreSQL; empty if none is used.
    """

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self.url = url
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
        address = parse_address(self.url).of(directory.name)
        copy_to_server(filled, directory, address)
        try:
            yield directory
        finally:
            with closing(
                Postgres(replace(address, run=""))
            ) as db:  # the session with the lock of the run may be ending still
                db.execute(f'DROP SCHEMA IF EXISTS "{address.schema}" CASCADE')


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
        joined = []
        executor: ExecutorName = "workers"
        if store == SQLITE:
            executor = "asyncio" if workers == 1 else "process"
        if executor == "workers":
            joined = [_spawn(_join, str(directory), f"worker {number}") for number in range(workers)]
        else:
            text = run_directory.read_run_file(directory)
            run_directory.replace_run_file(directory, f"workers = {workers}\n{text}")
        a_second = _play(directory, Session(executor=executor))
        for process in joined:
            process.join()
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
    config, store = run_directory.reopen_run(directory)
    with run_directory.held(directory, store):
        runner, looks = Runner(config, store, session), list[tuple[float, int]]()

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


def _join(directory: str, name: str) -> None:
    """Plays matches of a run as one worker; the target of a process."""
    path = Path(directory)
    worker = Worker(
        lambda: run_directory.open_store(path),
        lambda store: run_directory.read_config(path, store),
        Place(name, Session(executor="asyncio")),
    )
    asyncio.run(worker.run())


def _turn_time(directory: Path) -> float:
    """Returns how many milliseconds it takes to enter a turn, in the median, in a run that has been played."""
    with closing(run_directory.open_store(directory)) as store:
        record = next(store.records())
        match = replace(record.match, number=10**9)
        store.add_match(match)
        copy = Copies(match.options).of(record.match)
        seconds: list[float] = []
        for turn in copy.turns * 20:
            begin = time.perf_counter()
            store.add_turn(match, replace(turn, index=len(seconds)))
            seconds.append(time.perf_counter() - begin)
        return 1e3 * statistics.median(seconds)


def _size(directory: Path) -> int:
    """Returns the size of the database of a run, in bytes."""
    address = places.address_of(directory)
    if address is None:
        return sum(path.stat().st_size for path in directory.glob("run.db*"))
    with closing(open_existing(address)) as db:
        row = db.row(
            "SELECT CAST(sum(pg_total_relation_size(class.oid)) AS bigint) FROM pg_class AS class"
            " JOIN pg_namespace AS space ON space.oid = class.relnamespace WHERE nspname = ? AND relkind = 'r'",
            address.schema,
        )
        return int(row[0]) if row else 0


def claim_rate(bench: Bench, filled: Path, options: Options, group: int) -> ClaimRate:
    """Lets all workers of a cluster claim and answer matches as fast as they can."""
    with bench.copied(filled, POSTGRESQL) as directory, ExitStack() as stack:
        address = places.address_of(directory)
        assert address is not None
        store = stack.enter_context(closing(run_directory.open_store(directory)))
        matches = [*store.status_of_matches()][: options.claims]
        claims = stack.enter_context(closing(Claims(open_existing(address))))
        coordinator = claims.coordinate(Newcomer("coordinator", "here", 0, "workers", 0), 600)
        claims.offer(dict.fromkeys(matches, Kind.COMPUTING))
        waits = stack.enter_context(closing(_Server(address)))
        machines = _machines(options, address, bench.directory(), group=group, slots=group, reply=0.0, records=False)
        processes = [_spawn(run_machine, machine) for machine in machines]
        answered = 0
        while answered < len(matches):
            answered += len(claims.answers())
            claims.beat(coordinator)
            time.sleep(0.05)
        claims.declare(coordinator, State.OVER)
        for process in processes:
            process.join()
        notes = [note for machine in machines for note in read_notes(Path(machine.notes)) if note.what == "claim"]
        times = [note.seconds for note in notes]
        busy = _busy_seconds(notes)
        return ClaimRate(group, answered / busy, len(times) / busy, *_percentiles(times), waits.served(), waits.mean())


def play_cluster(bench: Bench, filled: Path, options: Options) -> Cluster:
    """Lets a cluster play a run to its end, one of whose machines is killed after a third of the matches."""
    with bench.copied(filled, POSTGRESQL) as directory, ExitStack() as stack:
        address = places.address_of(directory)
        assert address is not None
        config, store = run_directory.reopen_run(directory)
        stack.enter_context(run_directory.held(directory, store))
        waits = stack.enter_context(closing(_Server(address)))
        machines = _machines(options, address, bench.directory())
        processes = [_spawn(run_machine, machine) for machine in machines]
        before = store.count("finished", ENVIRONMENT)
        runner, begin = Runner(config, store, Session(executor="workers")), time.perf_counter()

        async def run() -> None:
            killing = asyncio.create_task(kill())
            await runner.run()
            killing.cancel()

        async def kill() -> None:
            while runner.progress().environments[0].played < options.cluster_matches / 3:
                await asyncio.sleep(0.02)
            processes[0].kill()

        asyncio.run(run())
        seconds = time.perf_counter() - begin
        for process in processes:
            process.join()
        notes = [[*read_notes(Path(machine.notes))] for machine in machines]
        every = [note for own in notes for note in own]
        claimed = Counter(match for note in every if note.what == "claim" for match in note.matches)
        killed = Counter(match for note in notes[0] if note.what == "claim" for match in note.matches)
        killed.subtract(match for note in notes[0] if note.what in ("end", "lost") for match in note.matches)
        times = [note.seconds for note in every if note.what == "claim"]
        played = store.count("finished", ENVIRONMENT) - before
        outcomes = [outcome for _, outcome in store.matches() if outcome is not None][before:]
        turns = sum(seat.turns for outcome in outcomes for seat in outcome.seats)
        return Cluster(
            options.machines * options.per_machine,
            len(claimed),
            seconds,
            turns / seconds,
            *_percentiles(times),
            waits.served(),
            waits.mean(),
            held=sum((+killed).values()),
            again=sum(count > 1 for count in claimed.values()),
            counted=played,
            failed=sum(note.what.startswith("failed") for note in every),
        )


def _machines(
    options: Options,
    address: Address,
    notes: Path,
    *,
    group: int = 1,
    slots: int = 0,
    reply: float | None = None,
    records: bool = True,
) -> list[Machine]:
    notes.mkdir()
    return [
        Machine(
            name=f"machine-{number}",
            url=address.url,
            run=address.run,
            workers=options.per_machine,
            slots=slots or options.slots,
            group=group,
            trip=options.trip / 1e3,
            reply=options.reply if reply is None else reply,
            spread=options.spread,
            notes=str(notes / str(number)),
            records=records,
        )
        for number in range(options.machines)
    ]


class _Server:
    """What a server says of itself; a thread, over a connection of its own, counts how many others wait for a lock."""

    def __init__(self, address: Address) -> None:
        self._db, self._watched = (Postgres(replace(address, run="")) for _ in range(2))
        self._tells = self._db.row("SELECT 1 FROM pg_extension WHERE extname = ?", _STATEMENTS) is not None
        if self._tells:
            self._db.row("SELECT CAST(pg_stat_statements_reset() AS text)")
        self._counts: list[int] = []
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def served(self) -> float | None:
        """Returns how many milliseconds a claim has taken in the server, in the mean, or ``None`` if it does not tell."""
        if not self._tells:
            return None
        claim = (
            "SELECT CAST(1000 * sum(total_exec_time) / sum(calls) AS bigint) FROM pg_stat_statements WHERE query LIKE ?"
        )
        row = self._db.row(claim, "%taken AS%")
        return None if row is None or row[0] is None else row[0] / 1000

    def mean(self) -> float:
        """Returns how many connections have waited for a lock, in the mean."""
        return statistics.fmean(self._counts) if self._counts else 0.0

    def close(self) -> None:
        """Counts no more."""
        self._closing.set()
        self._thread.join()
        self._watched.close()
        self._db.close()

    def _run(self) -> None:
        while not self._closing.wait(0.05):
            row = self._watched.row("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
            self._counts.append(int(row[0]) if row else 0)


def _busy_seconds(notes: list[Note]) -> float:
    """Returns how long claims went on: between the first and the last of them, as they were noted."""
    moments = [note.moment for note in notes]
    return max(moments) - min(moments)


def _percentiles(seconds: list[float]) -> tuple[float, float]:
    """Returns the median and the 99th percentile in milliseconds."""
    median, slow = np.percentile(seconds, (50, 99))
    return 1e3 * float(median), 1e3 * float(slow)


def _spawn(target: Callable[..., object], *arguments: object) -> BaseProcess:
    process = _CONTEXT.Process(target=target, args=arguments)
    process.start()
    return process


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


def claim_table(rates: list[ClaimRate]) -> str:
    """Returns how fast claims are made as a table in Markdown."""
    lines = [
        "| at once | matches a second | claims a second | median, ms | 99 %, ms | in the server, ms | waiting for a lock |",
        f"|{'---|' * 7}",
    ]
    for rate in rates:
        lines.append(
            f"| {rate.group} | {rate.matches:.0f} | {rate.claims:.0f} | {rate.median:.1f} | {rate.p99:.1f}"
            f" | {_milliseconds(rate.served)} | {rate.waiting:.2f} |"
        )
    return "\n".join(lines)


def cluster_lines(cluster: Cluster) -> str:
    """Says in words what a cluster came to."""
    return (
        f"{cluster.workers} workers: {cluster.matches:,} matches in {cluster.seconds:.1f} s,"
        f" {cluster.turns:.0f} turns a second;\n"
        f"a claim: median {cluster.median:.1f} ms, 99 % below {cluster.p99:.1f} ms,"
        f" in the server {_milliseconds(cluster.served)} ms;"
        f" {cluster.waiting:.2f} connections wait for a lock;\n"
        f"a machine was killed that held {cluster.held} matches: {cluster.again} were claimed again,"
        f" {cluster.counted:,} are counted, {cluster.failed} writes failed"
    )


def _milliseconds(known: float | None) -> str:
    return "?" if known is None else f"{known:.2f}"


def main(options: Options) -> tuple[list[Cost], list[ClaimRate], Cluster | None]:
    """Measures and prints everything."""
    costs: list[Cost] = []
    rates: list[ClaimRate] = []
    cluster: Cluster | None = None
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = options.store
        if not url and not (options.no_cluster and POSTGRESQL not in options.stores):
            server = PostgresServer(durable=True, settings={"shared_preload_libraries": _STATEMENTS})
            url = stack.enter_context(server).new_database()
            server.psql(f"CREATE EXTENSION {_STATEMENTS}", parse_address(url).database)
        bench = Bench(folder, url)
        if not options.no_growth:
            costs = measure_growth(bench, options)
            print(growth_table(costs), flush=True)
        if not options.no_cluster:
            filled = bench.filled(options.claims, options.cluster_matches)
            rates = [claim_rate(bench, filled, options, int(group)) for group in options.groups]
            print(claim_table(rates), flush=True)
            cluster = play_cluster(bench, filled, options)
            print(cluster_lines(cluster))
    if options.json:
        found = {
            "costs": [asdict(cost) for cost in costs],
            "claims": [asdict(rate) for rate in rates],
            "cluster": cluster and asdict(cluster),
        }
        Path(options.json).write_text(json.dumps(found, indent=2), encoding="utf-8")
    return costs, rates, cluster


if __name__ == "__main__":
    main(parse(Options, __doc__))
