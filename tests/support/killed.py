"""Runs that are killed again and again and started again as an operator would; requests to a model are counted."""

import json
import os
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from agents.models.calls import CallStatus
from rating.play import run_directory
from rating.store.export import record_table
from tests.support.fault_server import FaultServer, Request, fault_server
from tests.support.postgres_server import PostgresServer
from tests.support.processes import running
from tests.support.warm import Warm

MODELS = 3
"""Matches with models at once in a process, each with one call."""

RUN_FILE = """
seed = 11
concurrency = {models}
schedule = "round_robin"
workers = 2
stop = {{ min_matches = 18, max_matches = 18 }}
turns = {{ illegal = "random_legal" }}
environment = [{{ name = "tictactoe_v0" }}]
[[policy]]
spec = "random"
[[policy]]
spec = "greedy"
[[policy]]
spec = "tests.rating.players:Slow"
[[policy]]
name = "model"
spec = "openai:mock"
options = {{ base_url = "{url}" }}
"""

_PATIENCE = 120.0
_SECONDS_FOR_NEWS = 0.03
"""Seconds that all processes are stopped before requests are counted, to let requests in flight arrive."""
_NOTED = """
SELECT (SELECT count(*) FROM llmarena_killed.call), (SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND state = 'active' AND pid <> pg_backend_pid())
"""
_UNKNOWN = -1
"""Calls noted while the store still writes for a stopped or missing process."""


@dataclass(frozen=True)
class SetUp:
    """How a run is played.

    Attributes:
        executor: where.
        on_server: whether it is kept in PostgreSQL.
        victims: processes to kill, in rotation.
    """

    executor: str
    on_server: bool
    victims: tuple[str, ...]


@dataclass(frozen=True)
class Whole:
    """A run that was left alone.

    Attributes:
        directory: of it.
        text: its run file.
        warm: starts commands.
        model: the server that all runs ask.
        requests: that it took.
    """

    directory: Path
    text: Path
    warm: Warm
    model: FaultServer
    requests: int


def _move(request: Request) -> str:
    row, column = divmod(len(json.dumps(request.body["messages"])) % 9, 3)
    return f"({row + 1}, {column + 1})"


@contextmanager
def left_alone(folder: Path) -> Iterator[Whole]:
    """Plays a run in a process that starts commands then."""
    with fault_server(reply=_move, latency=0.01) as model:
        text = folder / "run.toml"
        text.write_text(RUN_FILE.format(models=MODELS, url=model.url))
        command = ["run", text, "--executor", "asyncio", "--quiet", "--out", folder / "whole"]
        with Warm(command, folder / "said") as warm:
            yield Whole(folder / "whole", text, warm, model, len(model.log))


class Killed:
    """A run that is begun, killed again and again, and resumed.

    Args:
        set_up: how it is played.
        directory: of the run.
        whole: the same that was left alone.
        server: where it is kept, if it is kept on one.
    """

    def __init__(self, set_up: SetUp, directory: Path, whole: Whole, server: PostgresServer | None) -> None:
        self.set_up, self.directory, self.whole, self.server = set_up, directory, whole, server
        self._before = len(whole.model.log)
        self._store = f"{server.new_database()}?run=killed" if server else ""
        self._client: int | None = None
        self.kills = self.starts = 0

    def tend(self) -> bool:
        """Starts the client if it does not run; says whether the run has ended."""
        if self._client is not None and (code := self.whole.warm.ended(self._client)) is not None:
            self._client = None
            if code == 0:
                return True
        if self._client is None:
            flags = ["--quiet", "--executor", self.set_up.executor]
            if run_directory.is_begun(self.directory):
                command = ["resume", self.directory, *flags]
            else:
                store = ["--store", self._store] if self._store else []
                command = ["run", self.whole.text, *flags, *store, "--out", self.directory]
            self._client = self.whole.warm.start(*command)
            self.starts += 1
        return False

    def play_until(self, condition: Callable[[], bool]) -> None:
        """Lets it be played until something is so."""
        self._until(lambda: not self.tend() and condition())

    def end(self) -> None:
        """Lets it be played to its end."""
        self._until(self.tend)

    def _until(self, condition: Callable[[], bool]) -> None:
        patience = time.monotonic() + _PATIENCE
        while not condition():
            assert time.monotonic() < patience, self.said()
            time.sleep(0.002)

    def progress(self) -> int:
        """Returns the approximate number of models' turns; each started process makes one extra call, the preflight check."""
        return self.requests() - self.starts

    def requests(self) -> int:
        """Returns how many requests its models were asked."""
        return len(self.whole.model.log) - self._before

    def kill(self, victim: str) -> None:
        """Kills a process at a moment when the noted calls equal the sent ones."""
        self._until(self._stand_still)
        if victim == "store":
            self.server.kill()
        elif victim == "pool":
            found = _pool(self._client)
            if found:  # else the run has just begun or continues without them
                _send(random.Random(self.requests()).choice(found), signal.SIGKILL)
        elif victim == "actor":
            for actor in _actors()[:1]:
                _send(actor, signal.SIGKILL)
        elif self._client is not None:
            os.killpg(command := self._client, signal.SIGKILL)
            self._client = None
            self.whole.warm.ended(command, wait=True)
        if victim == "store":
            self.server.start()
        self._signal(signal.SIGCONT)
        self.kills += 1

    def _stand_still(self) -> bool:
        """Stops the client if as many calls are noted as were sent."""
        self.tend()
        self._signal(signal.SIGSTOP)
        time.sleep(_SECONDS_FOR_NEWS)
        if self._noted() == self.requests() and self._client is not None:
            return True
        self._signal(signal.SIGCONT)
        return False

    def _signal(self, number: signal.Signals) -> None:
        if self._client is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._client, number)

    def _noted(self) -> int:
        """Returns how many calls are noted, also of those that have not ended."""
        if self.server is not None:
            database = self._store.partition("?")[0].rpartition("/")[2]
            with suppress(RuntimeError):
                noted, busy = self.server.psql(_NOTED, database).split("|")
                return int(noted) if busy == "0" else _UNKNOWN
            return _UNKNOWN
        try:
            with closing(sqlite3.connect(f"{(self.directory / 'run.db').as_uri()}?mode=ro", uri=True)) as db:
                (noted,) = db.execute("SELECT count(*) FROM call").fetchone()
                return int(noted)
        except sqlite3.OperationalError:  # not made yet
            return 0

    def said(self) -> str:
        """Returns the end of the commands' output."""
        return self.whole.warm.output.read_text()[-3000:]


def check_killed(
    set_up: SetUp, moments: int, directory: Path, whole: Whole, server: PostgresServer | None, seed: str
) -> None:
    """Plays a run with so many kills, and compares it with an undisturbed run."""
    run, rng = Killed(set_up, directory, whole, server), random.Random(seed)
    try:
        for moment in range(moments):
            target = whole.requests * (moment + rng.random()) / (moments + 1)
            run.play_until(lambda least=target: run.progress() >= least)
            time.sleep(rng.uniform(0, 0.01))
            run.kill(set_up.victims[moment % len(set_up.victims)])
        run.end()
    finally:
        run._signal(signal.SIGKILL)
    for found, expected in zip(*map(exported, (directory, whole.directory)), strict=True):
        assert found == expected, f"expected\n{expected}\ngot\n{found}"
    _, store = run_directory.open_run(directory)
    with closing(store):
        calls = [logged.call for logged in store.calls()]
    assert len(calls) == run.requests(), Counter(call.status for call in calls)
    assert sum(call.status is CallStatus.LOST for call in calls) <= moments * MODELS


def exported(directory: Path) -> list[str]:
    """Returns the play digest of a run, and everything recorded of each match but wall times and names of requests."""
    _, store = run_directory.open_run(directory)
    with closing(store):
        tables = [record_table(record) for record in store.records()]
        assert store.check() == []
        digest = store.digest()
    for table in tables:
        for turn in table["turns"]:
            for attempt in turn["attempts"]:
                del attempt["seconds"], attempt["waited"], attempt["request_id"]
    return [digest, *map(json.dumps, tables)]


def _send(process: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def _pool(group: int) -> list[int]:
    """Returns the ids of the worker processes of a process group."""
    return [process.pid for process in running() if process.group == group and "spawn_main" in process.command]


def _actors() -> list[int]:
    return [process.pid for process in running() if process.command.startswith("ray::_Worker")]
