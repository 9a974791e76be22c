"""``llmarena run``: plays a rated run from a run file or flags."""

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from llmarena_envs.core.options import OptionError, nearest
from rating.cli import flags
from rating.cli.forecast import print_forecast
from rating.cli.playing import (
    address_of,
    check_complete,
    free_directory,
    play_and_print,
    read_session,
    resumable,
    session_flags,
)
from rating.cli.web import listener_if_asked
from rating.config.budget import Budget
from rating.config.judge_warnings import family_warnings, scripted_judge_warnings
from rating.config.run_file import parse_run_file, run_file_text
from rating.config.run_file_source import RunFileText, read_run_file
from rating.play import run_directory
from rating.play.executors.choice import check_executor

_ENVIRONMENT_NAME = re.compile(r"[_-]v\d+(?:#[\w-]*)?$")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument(
        "run_file",
        nargs="?",
        type=Path,
        metavar="RUNFILE",
        help="path of a run file, or the name of an installed one; or say it with flags",
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _installed_run_files()
    parser.add_argument("--env", action="append", default=[], metavar="ENV", help="an environment; may be repeated")
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="POLICY[@ENV,...]",
        help="a policy, in the environments named or in all, e.g. minimax@tictactoe_v0,connect_four_v0; may be repeated",
    )
    parser.add_argument("--seed", type=flags.count, help="root seed")
    parser.add_argument("--preset", choices=("standard", "llmarena"), help="invalid-reply policy")
    parser.add_argument(
        "--schedule",
        choices=("round_robin", "adaptive"),
        help="who meets whom: a fixed cycle, or chosen from the results so far (default for rated two-player games)",
    )
    parser.add_argument(
        "--stop",
        metavar="RULE",
        help="when rated games end: order (default), spearman=0.99, top=3, separated=60, width=60, or several joined by +;"
        " trueskill for the paper's rule",
    )
    parser.add_argument("--max-matches", type=flags.count, help="scheduled matches of a policy after which play stops")
    parser.add_argument("--min-matches", type=flags.count, help="matches of a policy before play can stop")
    parser.add_argument(
        "--workers",
        type=flags.count,
        help="workers for scripted matches, processes here or in a cluster; 0: one a core",
    )
    flags.add_session(parser)
    flags.add_web(parser)
    parser.add_argument(
        "--out",
        type=flags.local_path,
        metavar="DIR",
        help="directory of the run; must be new or empty (default, of an installed run file: its name, or a numbered one)",
    )
    flags.add_store(parser)
    parser.add_argument("--dry-run", action="store_true", help="play nothing; print what the run is expected to take")
    parser.add_argument(
        "--reply-tokens",
        type=flags.positive,
        default=200,
        metavar="N",
        help="tokens of a reply in a dry run (default 200)",
    )
    parser.add_argument(
        "--latency", type=flags.amount, default=2.0, metavar="SECONDS", help="of a call in a dry run (default 2)"
    )
    flags.add_wide(parser)


def _installed_run_files() -> str:
    from llmarena_envs.core.terminal import printable
    from rating.config.run_file_source import named_run_files

    return "\n".join(["\ninstalled run files:", *(f"  {printable(name)}" for name in named_run_files()), ""])


def main(args: argparse.Namespace) -> None:
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
    address = address_of(args)
    out = args.out or _directory_of_name(args.run_file)
    with listener_if_asked(args) as listener, resumable(out, flags := session_flags(args, listener)):
        session = read_session(args)
        check_executor(session.executor or parse_run_file(text, where).executor)
        run, store = run_directory.create(out, text, where, offline=session.offline, address=address)
        for note in (*run.idle_stop_rules(), *scripted_judge_warnings(run.config), *family_warnings(run.config, {})):
            print(f"note: {note}", file=sys.stderr)
        missing = play_and_print(out, run, store, args.interruptions, args.wide, session, listener)
    check_complete(out, *missing, flags)


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
