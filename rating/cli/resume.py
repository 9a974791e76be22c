"""``llmarena resume``: resume a run, or add a policy to it."""

import argparse
from typing import Any

from llmarena_envs.catalogue import canonical_name
from llmarena_envs.core.options import OptionError, parse_options
from rating.cli import flags
from rating.cli.playing import check_complete, play_and_print, read_session, resumable, session_flags
from rating.cli.run import read_policies
from rating.cli.serve import listener_if_asked
from rating.config.tournament_config import add_newcomer
from rating.errors import RunError
from rating.play import run_directory
from rating.play.executors.choice import check_executor
from rating.store.state import StateWriter

COMPLETE = "rounds"
"""Stop reason of a completed tournament."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    flags.add_run(parser)
    added = parser.add_argument_group("add a policy")
    added.add_argument(
        "--add",
        metavar="POLICY[@ENV,...]",
        help="add a policy to the run file, in the named environments or in all; tournaments must be complete",
    )
    added.add_argument("--name", default="", help="name of the added policy (default: POLICY)")
    added.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="option of the added policy; repeatable"
    )
    added.add_argument(
        "--prior", type=flags.finite, metavar="SCORE", help="initial score in a tournament (default: the median)"
    )
    flags.add_session(parser)
    flags.add_wide(parser)


def main(args: argparse.Namespace) -> None:
    """Resumes a run. Void matches are played again."""
    if args.add is None:
        if args.name or args.option or args.prior is not None:
            raise OptionError("--name, --option and --prior describe an added policy: say which with --add POLICY")
    else:
        _add_policy(args)
    _resume(args)


def _resume(args: argparse.Namespace) -> None:
    with listener_if_asked(args) as listener, resumable(args.dir, resume_flags := session_flags(args, listener)):
        run, store = run_directory.reopen_run(args.dir)
        with run_directory.closed_on_error(store):
            session = read_session(args)
            check_executor(session.executor or run.config.executor)
        missing = play_and_print(args.dir, run, store, args.interruptions, args.wide, session, listener)
    check_complete(args.dir, *missing, resume_flags)


def _add_policy(args: argparse.Namespace) -> None:
    """Adds a policy to the run file.

    Raises:
        OptionError: if the policy is invalid or already present.
        RunError: if a tournament is not complete.
    """
    run, store = run_directory.reopen_run(args.dir)
    with run_directory.held(args.dir, store):
        check_executor(args.executor or run.config.executor)
        known = [item.name for item in run.config.environment]
        (spec,), restricted = read_policies([args.add], known)
        policy: dict[str, Any] = {"spec": spec, "name": args.name or spec}
        policy |= {"options": parse_options(args.option, "--option"), "environments": restricted.get(spec)}
        entered = {canonical_name(name) for name in restricted.get(spec, known)}
        tournaments = [name for name in known if name in entered and run.config.scheme_of(name).places_newcomers]
        if args.prior is not None and not tournaments:
            raise OptionError("--prior: only a tournament has initial scores; leave it out")
        state = run_directory.read_state(store)
        for environment in tournaments:
            if state.schedule(environment).stop_reason != COMPLETE:
                raise RunError(
                    f"{args.dir}: expected a complete tournament, but matches of {environment} are missing; first run: llmarena"
                    f" resume {args.dir}"
                )
        text = add_newcomer(run_directory.read_run_file(args.dir), tournaments, policy, args.prior)
        text = run_directory.check_run_file(text, "--add", offline=args.offline).run_file
        for environment in tournaments:  # before the run file changes: readers then see an unfinished tournament
            StateWriter(store).reopen(environment)
        run_directory.replace_run_file(args.dir, text)
