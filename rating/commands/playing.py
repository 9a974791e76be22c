"""Play a run with progress display and web pages, and print how to resume it."""

import shlex
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TextIO

from agents.errors import ProviderError, Quit
from rating.commands.garbage import rare_collections
from rating.commands.progress import ProgressDisplay
from rating.commands.signals import Interruptions
from rating.commands.web import pages, show_end
from rating.errors import BudgetExceeded, ClusterError, IncompleteRun, StoreError
from rating.records.store import Store
from rating.running import run_directory
from rating.running.run_file import RunConfig
from rating.running.runner import Runner
from rating.running.session import ONE_GO, Session

NO_FLAGS: Mapping[str, str] = MappingProxyType({})


def play_run(
    directory: Path,
    config: RunConfig,
    store: Store,
    interruptions: Interruptions,
    session: Session = ONE_GO,
    listener: socket.socket | None = None,
    told: TextIO | None = None,
    *,
    board: bool = True,
) -> int:
    """Plays a run to its end with a progress display, and returns the number of void matches.

    Args:
        directory: run directory; the caller holds its lock.
        config: run configuration.
        store: store of the run, which stays open.
        interruptions: signal handling for a clean stop.
        session: settings of this session.
        listener: listening socket of the web pages; ``None`` for no pages.
        told: output stream for the page addresses; ``None`` for standard output.
        board: whether to print the address of the board, which human players must not see.

    Raises:
        BudgetExceeded: if a limit of the budget was reached.
    """
    run_directory.keep_run_file(directory, store)
    runner = Runner(config, store, session)
    display = ProgressDisplay(person=bool(config.people()) and session.desk is None, quiet=session.quiet)

    async def watched() -> int:
        if listener is None:
            return await display.watch(runner.run, runner.progress)
        async with pages(directory, listener, session.desk, config.people(), told, board=board):
            void = await display.watch(runner.run, runner.progress)
            if session.desk is not None:
                await show_end(session.desk)
            return void

    with rare_collections():
        return interruptions.run(watched)


def run_line(directory: Path) -> str:
    """Returns a line with the path of a run and commands to read it."""
    path = shlex.quote(str(directory))
    return f"Run: {directory}  (llmarena report {path}, llmarena replay {path})"


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
            print(f"The run goes on with: {resume_command(directory, flags)}", file=sys.stderr)
            if isinstance(error, ProviderError) and run_directory.is_unplayed(directory):
                print("A run file that was corrected can be run into the same directory.", file=sys.stderr)
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
        missing.append(f"{void} {'match is' if void == 1 else 'matches are'} void, since a provider failed")
    if paused:
        missing.append(f"{', '.join(paused)} paused, since the first matches give no information")
        flags = {**flags, "--keep-going": ""}
    if missing:
        raise IncompleteRun(
            f"the ratings are of what was played: {'; '.join(missing)}; to play on: {resume_command(directory, flags)}"
        )


def free_directory(path: Path) -> Path:
    """Returns ``path``, or ``path-2``, ``path-3`` ... if it is taken."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate
