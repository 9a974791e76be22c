"""``llmarena run``, ``resume`` and ``demo``: play rated runs."""

import argparse
import math
import re
import socket
import sys
from pathlib import Path
from typing import Any

from agents.desk import Desk
from agents.registry import baselines
from llmarena_envs.core.options import OptionError, nearest
from rating.commands.extras import check_postgres
from rating.commands.forecast import print_forecast
from rating.commands.playing import check_complete, free_directory, play_run, resumable, run_line
from rating.commands.read import REPORT, print_leaderboards, write_report
from rating.commands.signals import Interruptions
from rating.commands.web import listener_if_asked, web_flags
from rating.errors import BudgetExceeded
from rating.records.postgres.address import Address, parse_address
from rating.records.store import Store
from rating.running import run_directory
from rating.running.budget import Budget
from rating.running.contests import idle_stop_rules, paused
from rating.running.executors.choice import check_executor
from rating.running.judge_warnings import family_warnings, scripted_judge_warnings
from rating.running.run_file import RunConfig, parse_run_file, run_file_text
from rating.running.run_file_source import RunFileText, read_run_file
from rating.running.session import ONE_GO, Session

DEMO_ENVIRONMENTS = ("tictactoe_v0", "connect_four_v0")
DEMO_SETTINGS = {"seed": 11}

_ENVIRONMENT_NAME = re.compile(r"[_-]v\d+(?:#[\w-]*)?$")


def run(args: argparse.Namespace) -> None:
    """Plays a run from a run file or flags, and prints its leaderboards."""
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
    address = _address(args)
    out = args.out or _directory_of_name(args.run_file)
    with listener_if_asked(args) as listener, resumable(out, flags := _flags(args, listener)):
        session = _read_session(args)
        check_executor(session.executor or parse_run_file(text, where).executor)
        config, store = run_directory.create(out, text, where, offline=session.offline, address=address)
        for note in (*idle_stop_rules(config), *scripted_judge_warnings(config), *family_warnings(config, {})):
            print(f"note: {note}", file=sys.stderr)
        missing = _play(out, config, store, args.interruptions, args.wide, session, listener)
    check_complete(out, *missing, flags)


def resume(args: argparse.Namespace) -> None:
    """Resumes a run. Void matches are played again."""
    with listener_if_asked(args) as listener, resumable(args.dir, flags := _flags(args, listener)):
        config, store = run_directory.reopen_run(args.dir)
        with run_directory.closed_on_error(store):
            session = _read_session(args)
            check_executor(session.executor or config.executor)
        missing = _play(args.dir, config, store, args.interruptions, args.wide, session, listener)
    check_complete(args.dir, *missing, flags)


def demo(args: argparse.Namespace) -> None:
    """Plays the board games between all scripted policies and writes the report."""
    specs = sorted({name for environment in DEMO_ENVIRONMENTS for name in baselines(environment)})
    out = args.out or free_directory(Path("llmarena-demo"))
    text = run_file_text(list(DEMO_ENVIRONMENTS), specs, DEMO_SETTINGS)
    with resumable(out):
        config, store = run_directory.create(out, text, "demo", address=_address(args))
        missing = _play(out, config, store, args.interruptions, args.wide)
    print(f"\nReport: {write_report(out, out / REPORT)}")
    check_complete(out, *missing)


def _flags(args: argparse.Namespace, listener: socket.socket | None) -> dict[str, str]:
    """Returns the flags, with values, that resume a run with the same settings."""
    values = {
        "--max-errors": args.max_errors,
        "--max-cost": args.max_cost,
        "--max-tokens": args.max_tokens,
        "--max-time": args.max_time and math.ceil(args.max_time),
        "--executor": args.executor,
        "--cache": args.cache,
    }
    switches = {"--keep-going": args.keep_going, "--offline": args.offline}
    return {
        **{name: str(value) for name, value in values.items() if value is not None},
        **{name: "" for name, is_set in switches.items() if is_set},
        **web_flags(args, listener),
    }


def _address(args: argparse.Namespace) -> Address | None:
    """Returns the PostgreSQL address of the store, or ``None`` for a file.

    Raises:
        OptionError: if the address is invalid or a package is missing.
    """
    if args.store is None:
        return None
    address = parse_address(args.store)
    check_postgres()
    return address


def _read_session(args: argparse.Namespace) -> Session:
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
        desk=Desk() if args.web else None,
    )
    cache = session.open_cache()  # fails before the run directory is created
    if cache is not None:
        cache.close()
    return session


def _play(
    directory: Path,
    config: RunConfig,
    store: Store,
    interruptions: Interruptions,
    wide: bool,
    session: Session = ONE_GO,
    listener: socket.socket | None = None,
) -> tuple[int, list[str]]:
    """Plays a run, prints its leaderboards, and returns the number of void matches and the paused games."""
    with run_directory.held(directory, store):
        try:
            void = play_run(directory, config, store, interruptions, session, listener)
        except BudgetExceeded:
            print_leaderboards(config, store, wide=wide)
            raise
        print_leaderboards(config, store, wide=wide)
        print(run_line(directory))
        print(f"Seal: {store.seal()}\nPlay digest: {store.digest()}")
        return void, paused(config, store.facts())


def read_policies(flags: list[str], environments: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Reads ``POLICY`` and ``POLICY@ENV,ENV``.

    Model names can contain ``@`` too: the part after it is read as environments only if it resembles environment names,
    possibly misspelt.

    Returns:
        The specs, and the environments of restricted policies by spec.
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


def _directory_of_name(run_file: Path | None) -> Path:
    """Returns a free directory named after an installed run file.

    Raises:
        OptionError: if the run file is a path, or missing.
    """
    if run_file is None or run_file.is_file():
        raise OptionError("expected a directory for the run: --out DIR, or --dry-run to see what it would take")
    return free_directory(run_file)
