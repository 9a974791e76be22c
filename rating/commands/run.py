"""``llmarena run``, ``resume`` and ``demo``: rated tournaments."""

import argparse
import re
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TextIO

from agents.desk import Desk
from agents.errors import ProviderError, Quit
from agents.registry import baselines
from llmarena_envs.core.options import OptionError, nearest
from rating.commands.forecast import print_forecast
from rating.commands.garbage import rare_collections
from rating.commands.progress import ProgressDisplay
from rating.commands.read import print_leaderboards, write_report
from rating.commands.signals import Interruptions
from rating.commands.web import check_installed, open_listener, pages, show_end, web_flags
from rating.errors import BudgetExceeded, IncompleteRun
from rating.records.store import Store
from rating.running import run_directory
from rating.running.budget import Budget
from rating.running.contests import idle_stop_rules
from rating.running.lock import Lock
from rating.running.run_file import RunConfig, run_file_text
from rating.running.run_file_source import RunFileText, read_run_file
from rating.running.runner import Runner
from rating.running.session import ONE_GO, Session

DEMO_ENVIRONMENTS = ("tictactoe_v0", "connect_four_v0")
DEMO_SETTINGS = {"seed": 11}

_ENVIRONMENT_NAME = re.compile(r"[_-]v\d+(?:#[\w-]*)?$")


def run(args: argparse.Namespace) -> None:
    """Plays a run described by a file or by flags, and prints its leaderboards."""
    if args.run_file is not None:
        text, where = _read_run_file(args)
    else:
        if not args.env or not args.policy:
            raise OptionError("expected a run file, or at least one --env and one --policy")
        policies, restricted = read_policies(args.policy, args.env)
        text, where = run_file_text(args.env, policies, _settings(args), restricted), "command line"
    if args.dry_run:
        limits = Budget(args.max_cost, args.max_tokens, args.max_time)
        print_forecast(text, where, args.reply_tokens, args.latency, limits)
        return
    if args.out is None:
        raise OptionError("expected a directory for the run: --out DIR, or --dry-run to see what it would take")
    with _listener(args) as listener, _resumable(args.out, flags := web_flags(args, listener)):
        session = read_session(args)
        config, store = run_directory.create(args.out, text, where, offline=session.offline)
        for note in idle_stop_rules(config):
            print(f"note: {note}", file=sys.stderr)
        void = _play(args.out, config, store, args.interruptions, args.wide, session, listener)
    _check_complete(args.out, void, flags)


def resume(args: argparse.Namespace) -> None:
    """Goes on with a run; matches that were void are played again."""
    with _listener(args) as listener, _resumable(args.dir, flags := web_flags(args, listener)):
        config, store = run_directory.open_run(args.dir)
        run_directory.check_unchanged(args.dir, config, store)
        void = _play(args.dir, config, store, args.interruptions, args.wide, read_session(args), listener)
    _check_complete(args.dir, void, flags)


def demo(args: argparse.Namespace) -> None:
    """Plays the board games between all scripted policies and writes the report."""
    specs = sorted({name for environment in DEMO_ENVIRONMENTS for name in baselines(environment)})
    out = args.out or _free_directory(Path("llmarena-demo"))
    text = run_file_text(list(DEMO_ENVIRONMENTS), specs, DEMO_SETTINGS)
    with _resumable(out):
        config, store = run_directory.create(out, text, "demo")
        void = _play(out, config, store, args.interruptions, args.wide)
    print(f"\nReport: {write_report(out, out / 'report.html')}")
    _check_complete(out, void)


def play_recorded(args: argparse.Namespace, text: str, directory: Path, print_result: Callable[[Store], None]) -> None:
    """Plays a run with people at browsers.

    Args:
        args: of the command, with what ``--web`` is told and where replies of models come from.
        text: of its run file.
        directory: of the run; a numbered one beside it if it is taken.
        print_result: prints what the run came to.
    """
    out = _free_directory(directory)
    with _listener(args) as listener, _resumable(out, flags := web_flags(args, listener)):
        session = Session(cache=args.cache, offline=args.offline, quiet=True, desk=Desk())
        config, store = run_directory.create(out, text, "command line", offline=session.offline)
        told = sys.stderr if args.json else None
        with Lock(out), closing(store):
            void = play_run(out, config, store, args.interruptions, session, listener, told, board=not config.people())
            print_result(store)
            print(f"Run: {out}  (llmarena report {out}, llmarena replay {out})", file=told)
    _check_complete(out, void, flags)


def read_session(args: argparse.Namespace) -> Session:
    """Returns what the flags say of this go at a run.

    Raises:
        OptionError: if they do not fit each other, or name a cache that cannot be used.
    """
    session = Session(
        max_errors=args.max_errors,
        max_cost=args.max_cost,
        max_tokens=args.max_tokens,
        max_seconds=args.max_time,
        cache=args.cache,
        offline=args.offline,
        quiet=args.quiet,
        desk=Desk() if getattr(args, "web", False) else None,
    )
    cache = session.open_cache()  # before a directory is made
    if cache is not None:
        cache.close()
    return session


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


def _listener(args: argparse.Namespace) -> AbstractContextManager[socket.socket | None]:
    """Opens where the pages of a run are served, if it is to have any."""
    if not args.web:
        return nullcontext()
    check_installed()
    return open_listener(args)


def _play(
    directory: Path,
    config: RunConfig,
    store: Store,
    interruptions: Interruptions,
    wide: bool,
    session: Session = ONE_GO,
    listener: socket.socket | None = None,
) -> int:
    """Plays a run to its end, prints its leaderboards and returns how many of its matches are void."""
    with Lock(directory), closing(store):
        void = play_run(directory, config, store, interruptions, session, listener)
        print_leaderboards(config, store, wide=wide)
        print(f"Run: {directory}  (llmarena report {directory}, llmarena replay {directory})")
        print(f"Seal: {store.seal()}\nPlay digest: {store.digest()}")
        return void


@contextmanager
def _resumable(directory: Path, flags: str = "") -> Iterator[None]:
    """Says how to go on, with which flags, if a run stops before its end."""
    try:
        yield
    except (KeyboardInterrupt, Quit, BudgetExceeded, ProviderError) as error:
        if run_directory.is_begun(directory):
            print(f"The run goes on with: llmarena resume {directory}{flags}", file=sys.stderr)
            if isinstance(error, ProviderError) and run_directory.is_unplayed(directory):
                print("A run file that was corrected can be run into the same directory.", file=sys.stderr)
        raise


def _check_complete(directory: Path, void: int, flags: str = "") -> None:
    """Checks that every match was played; says with which flags the run goes on otherwise.

    Raises:
        IncompleteRun: if some are void.
    """
    if void:
        raise IncompleteRun(
            f"the ratings are of what was played: {void} {'match is' if void == 1 else 'matches are'} void, since a provider"
            f" failed; to play what is missing: llmarena resume {directory}{flags}"
        )


def read_policies(flags: list[str], environments: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Reads ``POLICY`` and ``POLICY@ENV,ENV``.

    What stands behind an ``@`` may belong to the name of a model instead; it is taken for environments if it looks like one of
    them, misspelt perhaps.

    Returns:
        The specs, and by spec the environments of a policy that does not play all of them.
    """
    specs: list[str] = []
    restricted: dict[str, list[str]] = {}
    for flag in flags:
        spec, _, named = flag.rpartition("@")
        names = [name.strip() for name in named.split(",")]
        if not spec or not all(
            name in environments or _ENVIRONMENT_NAME.search(name) or nearest(name, environments) for name in names
        ):
            specs.append(flag)
        elif spec in restricted:
            restricted[spec] += names
        else:
            specs.append(spec)
            restricted[spec] = names
    return specs, restricted


def _read_run_file(args: argparse.Namespace) -> RunFileText:
    flags = [
        name
        for name in ("env", "policy", "seed", "preset", "schedule", "stop", "max_matches", "min_matches", "workers")
        if getattr(args, name)
    ]
    if flags:
        raise OptionError(
            f"expected a run file or flags, got both {args.run_file} and {', '.join('--' + name for name in flags)}"
        )
    return read_run_file(args.run_file)


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    settings: dict[str, Any] = {
        name: getattr(args, name)
        for name in ("seed", "preset", "schedule", "workers")
        if getattr(args, name) is not None
    }
    flags = {"rule": args.stop, "min_matches": args.min_matches, "max_matches": args.max_matches}
    stop = {key: value for key, value in flags.items() if value is not None}
    return {**settings, "stop": stop} if stop else settings


def _free_directory(path: Path) -> Path:
    """Returns ``path``, or ``path-2``, ``path-3`` ... if it is taken."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate
