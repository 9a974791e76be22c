"""``llmarena tournament``: add policies to a completed tournament."""

import argparse
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from llmarena_envs.core.options import parse_options
from rating.cli import flags, resume
from rating.cli.printing import print_grid
from rating.config.run_file import parse_run_file
from rating.config.tournament_config import add_newcomer
from rating.errors import RunError
from rating.play import run_directory
from rating.play.executors.choice import check_executor
from rating.play.run import Run
from rating.schedules.swiss import START, ranked
from rating.schemes import formatting
from rating.schemes.figures import Grid
from rating.schemes.tournament import Stage, Tournament
from rating.store.outcome import Outcome
from rating.store.state import StateWriter
from rating.store.store import Store

COMPLETE = "rounds"
"""Stop reason of a completed tournament."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    text = "add a policy and play its pairings"
    added = actions.add_parser("add", help=text, description="Add a policy to a tournament and play its pairings.")
    flags.add_session(added)
    flags.add_web(added)
    flags.add_run(added)
    added.add_argument("policy", metavar="POLICY", help="the newcomer")
    added.add_argument("--name", default="", metavar="NAME", help="what tables call it (default: POLICY)")
    added.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="option of the policy; may be repeated"
    )
    added.add_argument("--prior", type=flags.finite, metavar="SCORE", help="initial score (default: the median)")
    flags.add_wide(added)


def main(args: argparse.Namespace) -> None:
    """Adds a newcomer, plays its pairings, and prints leaderboards and rating histories."""
    newcomer = args.name or args.policy
    _enter(args, newcomer)
    resume.main(args)
    run, store = run_directory.open_run(args.dir)
    with closing(store):
        outcomes = list(store.outcomes())
    for environment, scheme in _tournaments(run).items():
        _print_placing(environment, scheme, outcomes, newcomer)


def _enter(args: argparse.Namespace, newcomer: str) -> None:
    """Adds a newcomer to the run file; ``resume`` then places it.

    Raises:
        OptionError: if the policy is invalid or already present.
        RunError: if the run has no tournament, or the tournament is not complete.
    """
    run, store = run_directory.reopen_run(args.dir)
    with run_directory.held(args.dir, store):
        check_executor(args.executor or run.config.executor)
        environments = list(_tournaments(run))
        if not environments:
            raise RunError(
                f"{args.dir}: expected a run with the scheme 'tournament' in one of its environments, got none"
            )
        _check_complete(args.dir, store, environments)
        policy = {"spec": args.policy, "name": newcomer, "options": parse_options(args.option, "--option")}
        if len(environments) < len(run.config.environment):
            policy["environments"] = environments
        text = add_newcomer(run_directory.read_run_file(args.dir), environments, policy, args.prior)
        changed = Run(parse_run_file(text, "tournament add"))
        changed.config.check(offline=args.offline)
        for environment in environments:
            changed.scheme(environment)
        for environment in environments:  # before the run file changes: readers then see an unfinished tournament
            StateWriter(store).reopen(environment)
        run_directory.replace_run_file(args.dir, text)


def _check_complete(directory: Path, store: Store, environments: Sequence[str]) -> None:
    state = run_directory.read_state(store)
    for environment in environments:
        if state.schedule(environment).stop_reason != COMPLETE:
            raise RunError(
                f"{directory}: expected a tournament that has been played to its end, but matches of {environment} are missing;"
                f" first: llmarena resume {directory}"
            )


def _tournaments(run: Run) -> dict[str, Tournament]:
    return {name: scheme for name, scheme in run.schemes().items() if isinstance(scheme, Tournament)}


def _print_placing(environment: str, scheme: Tournament, outcomes: Sequence[Outcome], newcomer: str) -> None:
    """Prints all ratings before and after each pairing of a newcomer, and the order of the other policies."""
    path = scheme.path(outcomes)
    own = [index for index, stage in enumerate(path) if newcomer in stage.pair]
    stages = path[max(own[0] - 1, 0) : own[-1] + 1]
    print_grid(_placing(f"{environment}: ratings while {newcomer} was placed", stages, newcomer))
    before, after = (_order(stage, newcomer) for stage in (stages[0], stages[-1]))
    if before == after:
        print(f"The order of the others is as it was: {', '.join(after)}")
    else:
        print(f"Order of the others before: {', '.join(before)}\nOrder of the others after:  {', '.join(after)}")


def _placing(title: str, stages: Sequence[Stage], newcomer: str) -> Grid:
    opponents = ["".join({*stage.pair} - {newcomer}) for stage in stages[1:]]
    rows = [
        [name, *(formatting.number(stage.ratings.get(name, START), 0) for stage in stages)]
        for name in ranked(stages[-1].ratings)
    ]
    return Grid(title, ["policy", "before", *(f"after {name}" for name in opponents)], rows)


def _order(stage: Stage, newcomer: str) -> list[str]:
    return [name for name in ranked(stage.ratings) if name != newcomer]
