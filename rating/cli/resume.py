"""``llmarena resume``: goes on with a run."""

import argparse

from rating.cli import flags
from rating.cli.playing import (
    check_complete,
    play_and_print,
    read_session,
    resumable,
    session_flags,
)
from rating.cli.web import listener_if_asked
from rating.play import run_directory
from rating.play.executors.choice import check_executor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    flags.add_session(parser)
    flags.add_web(parser)
    flags.add_run(parser)
    flags.add_wide(parser)


def main(args: argparse.Namespace) -> None:
    """Resumes a run. Void matches are played again."""
    with listener_if_asked(args) as listener, resumable(args.dir, flags := session_flags(args, listener)):
        run, store = run_directory.reopen_run(args.dir)
        with run_directory.closed_on_error(store):
            session = read_session(args)
            check_executor(session.executor or run.config.executor)
        missing = play_and_print(args.dir, run, store, args.interruptions, args.wide, session, listener)
    check_complete(args.dir, *missing, flags)
