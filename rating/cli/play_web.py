"""``llmarena play --web``: play one match in a browser, recorded as a run."""

import argparse
import sys
from pathlib import Path
from typing import Any

import tomlkit

from agents.baselines.company import company
from agents.desk import Desk
from llmarena_envs.catalogue import canonical_name, load_environment, make_environment
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.options import parse_options
from llmarena_envs.core.terminal import printable
from rating.cli.playing import check_complete, free_directory, play_run, resumable, run_line
from rating.cli.web import listener_if_asked, web_flags
from rating.config.run_file import PERSON
from rating.play import run_directory
from rating.play.session import Session
from rating.schemes.duels import Duels
from rating.schemes.tournament import Tournament
from rating.store.export import write_jsonl
from rating.store.outcome import PLAYED
from rating.store.record import Record

_LONGEST_REASON = 300
"""Maximum characters printed of the error of a match; its record has the full text."""


def play_in_browser(args: argparse.Namespace, specs: dict[str, str]) -> None:
    """Plays a match with people in browsers, records it, and prints its result.

    Args:
        args: parsed arguments of the command.
        specs: policy specs by seat, in the order of the agents.
    """
    directory = free_directory(args.out or Path("llmarena-play"))
    with listener_if_asked(args) as listener, resumable(directory, flags := web_flags(args, listener)):
        session = Session(cache=args.cache, offline=args.offline, quiet=True, desk=Desk())
        run, store = run_directory.create(directory, run_file(args, specs), "command line", offline=session.offline)
        told = sys.stderr if args.json else None
        with run_directory.held(directory, store):
            void = play_run(
                directory, run, store, args.interruptions, session, listener, told, board=not run.config.people()
            )
            if args.json:
                write_jsonl(store.records(), sys.stdout)
            else:
                _print_rewards(next(store.records()))
            print(run_line(directory), file=told)
    check_complete(directory, void, flags=flags)


def with_company(environment: str, specs: dict[str, str], agents: list[str]) -> dict[str, str]:
    """Fills the free seats: with a person, unless there is one, and with baselines.

    Args:
        environment: environment name.
        specs: given policy specs by seat.
        agents: all seats.
    """
    declaration = load_environment(environment).declaration
    free = [agent for agent in agents if agent not in specs]
    own = next((agent for agent in free if declaration.is_rated(agent)), "") if PERSON not in specs.values() else ""
    added = {agent: PERSON if agent == own else company(environment, agent) for agent in free}
    return {agent: {**specs, **added}[agent] for agent in agents}


def run_file(args: argparse.Namespace, specs: dict[str, str]) -> str:
    """Returns the run file of the match, with the same options as without a browser."""
    name, options = canonical_name(args.env), parse_options(args.option, "--option")
    declaration = load_environment(name).declaration
    names = _names(specs)
    staff: dict[str, list[str]] = {}
    for agent in make_environment(name, options).possible_agents:
        if not declaration.is_rated(agent):
            staff.setdefault(role_of(agent), []).append(names[agent])
    seats = [names[agent] for agent in specs if declaration.is_rated(agent)]
    policies = [
        {"spec": spec, "name": names[agent], "rated": declaration.is_rated(agent)} for agent, spec in specs.items()
    ]
    environment: dict[str, Any] = {
        "name": name,
        "options": options,
        "rated_options": False,
        "seats": seats,
        "staff": staff,
    }
    if declaration.scheme == Tournament.name:  # a tournament needs more than one match
        environment["scheme"] = Duels.name
    run = {"seed": args.seed, "executor": "asyncio", "stop": {"matches": 1}}
    return tomlkit.dumps({**run, "environment": [environment], "policy": policies})


def _names(specs: dict[str, str]) -> dict[str, str]:
    """Returns policy names by seat. A policy on two or more seats gets the seat in its name."""
    played = [*specs.values()]
    return {agent: f"{spec} {agent}" if played.count(spec) > 1 else spec for agent, spec in specs.items()}


def _print_rewards(record: Record) -> None:
    if record.outcome is None or record.outcome.status not in PLAYED:
        print(printable(f"The match came to no end: {' '.join(record.error.split())[:_LONGEST_REASON]}"))
        return
    for seat in record.outcome.seats:
        forfeit = f", forfeit ({seat.forfeit})" if seat.forfeit else ""
        print(printable(f"{seat.agent} ({seat.policy}): {seat.reward:+g}{forfeit}"))
