"""A run that a command plays: with its progress, its pages in a browser, and how it goes on if it stops."""

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
    """Plays a run to its end, shows how far it is, and returns how many of its matches are void.

    Args:
        directory: of the run, whose lock the caller holds.
        config: the run.
        store: what was recorded of it; stays open.
        interruptions: by which play stops in good order.
        session: what holds for this go.
        listener: where the pages of the run are served meanwhile; ``None`` for no pages.
        told: where the addresses of the pages are printed; ``None`` for standard output.
        board: whether the address of the board is printed, which people who play must not see.

    Raises:
        BudgetExceeded: if a limit that the run sets was reached.
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
    """Returns the path of a run, and commands that read it."""
    path = shlex.quote(str(directory))
    return f"Run: {directory}  (llmarena report {path}, llmarena replay {path})"


def resume_command(directory: Path, flags: Mapping[str, str]) -> str:
    """Returns the command that resumes a run, for a shell.

    Args:
        directory: of the run.
        flags: with their values, which are empty for a switch.
    """
    path = str(directory) if not str(directory).startswith("-") else f"./{directory}"
    return shlex.join(["llmarena", "resume", path, *(word for flag in flags.items() for word in flag if word)])


@contextmanager
def resumable(directory: Path, flags: Mapping[str, str] = NO_FLAGS) -> Iterator[None]:
    """Says how to go on, with which flags, if a run stops before its end."""
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
        directory: of the run.
        void: number of void matches.
        paused: games that were paused.
        flags: with which the run goes on.

    Raises:
        IncompleteRun: if matches are void or games are paused; the message says how to go on.
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
