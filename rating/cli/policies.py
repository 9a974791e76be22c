"""``llmarena policies``: lists the policies of every environment."""

import argparse
import inspect
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from agents.registry import baselines
from llmarena_envs.catalogue import (
    CATALOGUE,
    canonical_name,
    installed,
    load_environment,
)
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.cli.envs import warn, warn_of_refused
from rating.store.environments import admit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument("--env", metavar="ENV", help="only those that play this environment")


def main(args: argparse.Namespace) -> None:
    """Lists the policies by environment with the first line of their docstrings."""
    if args.env:
        admit([args.env])
        load_environment(args.env)
        name = canonical_name(args.env)
        table = {name: _players(name)}
    else:
        table = {entry.name: _players(entry.name) for entry in CATALOGUE}
        warn_of_refused()
        for other in installed().environments.values():
            try:
                table[other.name] = _players(other.name)
            except OptionError as error:
                warn(other.name, other.distribution, error)
    if args.json:
        print(json.dumps(table, indent=2))
        return
    for name, known in table.items():
        print(name)
        for policy, text in known.items():
            print(printable(f"  {policy:14} {text}"))
    print("every environment")
    print("  human          A person at the terminal.")
    print(
        "  openai:MODEL   A model behind an OpenAI-compatible server; options base_url, api_key_env, history, temperature."
    )
    print(
        "  hf:PATH_OR_ID  A model of Hugging Face transformers in this process; options mode, device, dtype, temperature."
    )
    print("  package.module:factory   A function of your own that returns a policy.")


def _players(name: str) -> dict[str, str]:
    """Returns descriptions of the scripted policies of an environment, by name."""
    return {policy: _description(factory) for policy, factory in sorted(baselines(name).items())}


def _description(factory: Callable[..., Any]) -> str:
    """Returns the first line of a policy's docstring, with its preset arguments."""
    dials = ""
    if isinstance(factory, partial):
        dials = f" ({', '.join(f'{name}={value}' for name, value in factory.keywords.items())})"
        factory = factory.func
    return (inspect.getdoc(factory) or "").split("\n")[0] + dials
