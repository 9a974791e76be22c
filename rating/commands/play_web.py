"""``llmarena play --web``: one match in a browser, recorded as a run of its own."""

import argparse
from pathlib import Path
from typing import Any

import tomlkit

from llmarena_envs.catalogue import canonical_name, load_environment, make_environment
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.options import parse_options
from rating.commands.run import play_recorded
from rating.running.run_file import PERSON


def play_in_browser(args: argparse.Namespace, specs: dict[str, str]) -> None:
    """Plays a match whose people sit at browsers, and records it.

    Args:
        args: of the command.
        specs: of the policy on each seat, in the order of the agents.
    """
    play_recorded(args, _run_file(args, specs), args.out or Path("llmarena-play"))


def _run_file(args: argparse.Namespace, specs: dict[str, str]) -> str:
    """Returns the run file of the match."""
    name, options = canonical_name(args.env), parse_options(args.option, "--option")
    declaration = load_environment(name).declaration
    names = _names(specs)
    staff: dict[str, list[str]] = {}
    for agent in make_environment(name, options).possible_agents:
        if not declaration.is_rated(agent):
            staff.setdefault(role_of(agent), []).append(names[agent])
    seats = [names[agent] for agent in specs if declaration.is_rated(agent)]
    policies = {
        names[agent]: {"spec": spec, "name": names[agent], "rated": names[agent] in seats}
        for agent, spec in specs.items()
    }
    environment: dict[str, Any] = {"name": name, "options": options, "seats": seats, "staff": staff}
    run = {"seed": args.seed, "stop": {"matches": 1}, "environment": [environment], "policy": [*policies.values()]}
    return tomlkit.dumps(run)


def _names(specs: dict[str, str]) -> dict[str, str]:
    """Returns what each policy is called: several people are told apart by their seats."""
    several = [*specs.values()].count(PERSON) > 1
    return {agent: f"{spec} {agent}" if several and spec == PERSON else spec for agent, spec in specs.items()}
