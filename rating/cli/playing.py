"""A session of a run for ``run``, ``resume``, ``demo`` and ``play``: progress, web pages, results, and how to resume."""

import argparse
import itertools
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TextIO

from agents.errors import ProviderError, Quit
from agents.human_queue import HumanQueue
from llmarena_envs.catalogue import is_known
from rating.cli.flags import check_extra
from rating.cli.printing import Detail, print_leaderboards
from rating.cli.process import Interruptions, rare_collections
from rating.cli.progress import ProgressDisplay
from rating.cli.serve import pages, show_end, web_flags
from rating.errors import BudgetExceeded, ClusterError, IncompleteRun, StoreError
from rating.play import run_directory
from rating.play.run import Run
from rating.play.runner import Runner
from rating.play.session import ONE_GO, Session
from rating.store.address import Address, parse_address

if TYPE_CHECKING:
    from rating.store.store import Store


NO_FLAGS: Mapping[str, str] = MappingProxyType({})

_SESSION_FLAGS = ("max_errors", "max_cost", "max_tokens", "max_time", "executor", "keep_going", "cache", "offline")
"""Flags that a resumed run needs again."""


def play_run(
    directory: Path,
    run: Run,
    store: "Store",
    interruptions: Interruptions,
    session: Session = ONE_GO,
    listener: socket.socket | None = None,
    output: TextIO | None = None,
    *,
    board: bool = True,
    at_end: Callable[[HumanQueue], Awaitable[None]] = show_end,
) -> int:
    """Plays a run to its end with a progress display, and returns the number of void matches.

    Args:
        directory: run directory; the caller holds its lock.
        run: the run.
        store: store of the run, which stays open.
        interruptions: signal handling for a clean stop.
        session: settings of this session.
        listener: listening socket of the web pages; ``None`` for no pages.
        output: output stream for the page addresses; ``None`` for standard output.
        board: whether to print the address of the board, which human players must not see.
        at_end: called at the end of a run with pages for people, which stay up until it returns.

    Raises:
        BudgetExceeded: if a limit of the budget was reached.
    """
    run_directory.keep_run_file(directory, store)
    runner = Runner(run, store, session)
    display = ProgressDisplay(person=bool(run.config.people()) and session.human_queue is None, quiet=session.quiet)

    async def watched() -> int:
        if listener is None:
            return await display.watch(runner.run, runner.progress)
        async with pages(directory, listener, session.human_queue, run.config.people(), output, board=board):
            void = await display.watch(runner.run, runner.progress)
            if session.human_queue is not None:
                await at_end(session.human_queue)
            return void

    with rare_collections():
        return interruptions.run(watched)


def play_and_print(
    directory: Path,
    run: Run,
    store: "Store",
    interruptions: Interruptions,
    detail: Detail,
    session: Session = ONE_GO,
    listener: socket.socket | None = None,
) -> tuple[int, list[str]]:
    """Plays a run, prints its leaderboards, and returns the number of void matches and the paused games."""
    with run_directory.held(directory, store):
        try:
            void = play_run(directory, run, store, interruptions, session, listener)
        except BudgetExceeded:
            print_leaderboards(run, store, detail)
            raise
        print_leaderboards(run, store, detail)
        seal = store.seal()
        own = not all(is_known(item.name) for item in run.config.environment)
        print(f"\n{next_steps(directory, trust=own)}")
        if detail != "brief":
            print(f"\nSeal: {seal}\nPlay digest: {store.digest()}")
        return void, run.paused(run_directory.read_state(store))


def run_line(directory: Path) -> str:
    """Returns a line with the path of a run and commands to read it."""
    path = shlex.quote(str(directory))
    return f"Run: {directory}  (llmarena report {path}, llmarena replay {path})"


def next_steps(directory: Path, *, trust: bool) -> str:
    """Returns lines with the commands to read the results of a run; with ``--trust`` for environments of the user."""
    path = shlex.quote(str(directory)) + (" --trust" if trust else "")
    commands = {
        f"llmarena report {path}": "tables, plots and matches on one page",
        f"llmarena replay {path}": "the matches turn by turn",
        f"llmarena rate {path} --explain": "the definitions of the columns",
    }
    width = max(map(len, commands))
    return "\n".join(f"{command:{width}}  {what}" for command, what in commands.items())


def resume_command(directory: Path, flags: Mapping[str, str]) -> str:
    """Returns the shell command that resumes a run.

    Args:
        directory: run directory.
        flags: flags with values; the value of a switch is empty.
    """
    path = str(directory) if not str(directory).startswith("-") else f"./{directory}"
    return shlex.join(["llmarena", "resume", path, *(word for flag in flags.items() for word in flag if word)])


@contextmanager
def resumable(directory: Path, flags: Mapping[str, str] = NO_FLAGS) -> Iterator[None]:
    """Prints the command to resume a run if it stops early."""
    try:
        yield
    except (KeyboardInterrupt, Quit, BudgetExceeded, ClusterError, ProviderError, StoreError, OSError) as error:
        if run_directory.is_begun(directory):
            if isinstance(error, BudgetExceeded):
                flags = {name: value for name, value in {**flags, **error.flags}.items() if value is not None}
            print(f"Resume with: {resume_command(directory, flags)}", file=sys.stderr)
            if isinstance(error, ProviderError) and run_directory.is_unplayed(directory):
                print("Or correct the run file and run it into the same directory.", file=sys.stderr)
        raise


def check_complete(directory: Path, void: int, paused: Sequence[str] = (), flags: Mapping[str, str] = NO_FLAGS) -> None:
    """Checks that every match was played.

    Args:
        directory: run directory.
        void: number of void matches.
        paused: names of paused games.
        flags: flags of the resume command.

    Raises:
        IncompleteRun: if matches are void or games are paused; the message has the resume command.
    """
    missing = []
    if void:
        missing.append(f"{void} {'match is' if void == 1 else 'matches are'} void after provider failures")
    if paused:
        missing.append(f"{', '.join(paused)} paused: the first matches are all tied, forfeited or void")
        flags = {**flags, "--keep-going": ""}
    if missing:
        raise IncompleteRun(f"incomplete run: {'; '.join(missing)}; resume with: {resume_command(directory, flags)}")


def free_directory(path: Path) -> Path:
    """Returns ``path``, or ``path-2``, ``path-3`` ... if it is taken."""
    return next(candidate for candidate in _numbered(path) if not candidate.exists())


def make_free_directory(path: Path) -> Path:
    """Makes ``path``, or ``path-2``, ``path-3`` ... if it is taken, also by a process that starts at the same time."""
    candidates = _numbered(path)
    while True:
        candidate = next(candidates)
        try:
            candidate.mkdir(parents=True)
        except FileExistsError:
            if not candidate.parent.is_dir():
                raise
        else:
            return candidate


def _numbered(path: Path) -> Iterator[Path]:
    """Yields ``path``, ``path-2``, ``path-3`` ... without end."""
    yield path
    for number in itertools.count(2):
        yield path.with_name(f"{path.name}-{number}")


def session_flags(args: argparse.Namespace, listener: socket.socket | None) -> dict[str, str]:
    """Returns the flags, with values, that resume a run with the same settings."""
    given = {f"--{name.replace('_', '-')}": getattr(args, name) for name in _SESSION_FLAGS}
    flags = {
        name: "" if value is True else str(value)
        for name, value in given.items()
        if value is not None and value is not False
    }
    return {**flags, **web_flags(args, listener)}


def read_session(args: argparse.Namespace) -> Session:
    """Returns the session settings of the flags.

    Raises:
        OptionError: if flags conflict, or the cache cannot be used.
    """
    session = Session(
        max_errors=args.max_errors,
        max_cost=args.max_cost,
        max_tokens=args.max_tokens,
        max_seconds=args.max_time,
        executor=args.executor,
        keep_going=args.keep_going,
        cache=args.cache,
        offline=args.offline,
        quiet=args.quiet,
        human_queue=HumanQueue() if args.web else None,
    )
    cache = session.open_cache()  # fails before the run directory is created
    if cache is not None:
        cache.close()
    return session


def address_of(args: argparse.Namespace) -> Address | None:
    """Returns the PostgreSQL address of the store, or ``None`` for a file.

    Raises:
        OptionError: if the address is invalid or a package is missing.
    """
    if args.store is None:
        return None
    address = parse_address(args.store)
    check_extra("a run in PostgreSQL needs", "postgres", "psycopg")
    return address
