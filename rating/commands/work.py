"""``llmarena work``: a worker of a run that several machines play."""

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from typing import Any

from llmarena_envs.core.options import OptionError
from rating.commands.extras import check_postgres
from rating.commands.garbage import rare_collections
from rating.commands.progress import FailureLines
from rating.commands.signals import Interruptions
from rating.records.postgres.address import Address, parse_address
from rating.records.store import Store
from rating.running import places
from rating.running.run_directory import check_versions, is_begun, recorded_config
from rating.running.run_file import RunConfig
from rating.running.session import Session
from rating.running.workers.stay import Place
from rating.running.workers.worker import NoRunYet, Worker


def work(args: argparse.Namespace) -> None:
    """Joins a run and plays its matches until it is over, or this worker is drained."""
    address = find_address(args)
    check_postgres("llmarena work needs")
    from rating.records.postgres.runs import find_runs
    from rating.records.server import open_on_server

    session = Session(cache=args.cache, offline=args.offline, executor=args.executor)
    place = Place(args.name or f"{socket.gethostname()}-{os.getpid()}", session, args.lease, args.idle)

    def open_store() -> Store:
        if address.run not in find_runs(address):
            raise NoRunYet(f"{address}: there is no run of this name yet")
        return open_on_server(address)

    def read_config(store: Store) -> RunConfig:
        check_versions(store)
        config = recorded_config(store)
        config.check(offline=session.offline)
        limits = {"concurrency": args.concurrency, "workers": args.workers}
        return config.model_copy(update={key: value for key, value in limits.items() if value is not None})

    worker = Worker(open_store, read_config, place, _say)
    with rare_collections(), _failures_shown():
        asyncio.run(_run(worker, args.interruptions))
    if worker.is_abandoned:
        raise KeyboardInterrupt


def find_address(args: argparse.Namespace) -> Address:
    """Returns the address of the run that arguments name.

    Raises:
        OptionError: if they name none, or one that a single process plays.
    """
    if (args.dir is None) == (args.store is None):
        raise OptionError("expected either the directory of a run, or --store postgresql://... and --run NAME")
    if args.store is not None:
        address = parse_address(args.store)
        if args.run is not None:
            address = address.of(args.run)
        if not address.run:
            raise OptionError("run: expected the name of the run: --run NAME")
        return address
    address_of_directory = places.address_of(args.dir)
    if address_of_directory is None:
        if not is_begun(args.dir):
            raise OptionError(
                f"{args.dir}: expected the directory of a run; from elsewhere it is --store postgresql://... and --run NAME"
            )
        raise OptionError(f"{args.dir}: workers join a run whose store is PostgreSQL, but that of this one is a file")
    return address_of_directory


async def _run(worker: Worker, interruptions: Interruptions) -> None:
    with _drained_by_signals(worker, interruptions):
        await worker.run()


@contextlib.contextmanager
def _drained_by_signals(worker: Worker, interruptions: Interruptions) -> Iterator[None]:
    """Lets the first SIGINT or SIGTERM drain a worker; at the second it gives back what it holds."""
    loop, before = asyncio.get_running_loop(), {}

    def drain(number: signal.Signals) -> None:
        interruptions.terminated |= number == signal.SIGTERM
        _say("draining: what is held is played to its end; once more, and it is given back at once")
        worker.drain()

    for number in (signal.SIGINT, signal.SIGTERM):
        handler: Any = signal.getsignal(number)
        if handler != signal.SIG_IGN:
            with contextlib.suppress(NotImplementedError):  # Windows: then the command is interrupted as any other
                loop.add_signal_handler(number, drain, number)
                before[number] = handler
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


@contextlib.contextmanager
def _failures_shown() -> Iterator[None]:
    handler = FailureLines(_say)
    loggers = [logging.getLogger(name) for name in ("agents", "rating")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
            logger.setLevel(logging.NOTSET)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
