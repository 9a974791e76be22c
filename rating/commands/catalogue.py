"""``llmarena envs`` and ``llmarena policies``."""

import argparse
import inspect
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from agents.registry import baselines
from llmarena_envs.catalogue import CATALOGUE, canonical_name, load_environment, make_environment


def envs(args: argparse.Namespace) -> None:
    """Lists the environments with their seats and abilities."""
    rows = []
    for entry in CATALOGUE:
        env = make_environment(entry.name, {})
        rows.append(
            {
                "name": entry.name,
                "id": entry.registry_id,
                "title": entry.title,
                "agents": env.possible_agents,
                "max_turns": env.unwrapped.max_turns,
                "abilities": list(env.unwrapped.declaration.abilities),
            }
        )
        env.close()
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print(f"{row['name']:22} {row['title']:16} {', '.join(row['agents'])}; up to {row['max_turns']} turns")


def policies(args: argparse.Namespace) -> None:
    """Lists the policies by environment with the first line of their documentation."""
    names = [entry.name for entry in CATALOGUE]
    if args.env:
        load_environment(args.env)
        names = [canonical_name(args.env)]
    table = {
        name: {policy: _description(factory) for policy, factory in sorted(baselines(name).items())} for name in names
    }
    if args.json:
        print(json.dumps(table, indent=2))
        return
    for name, known in table.items():
        print(name)
        for policy, text in known.items():
            print(f"  {policy:14} {text}")
    print("every environment")
    print("  human          A person at the terminal.")
    print(
        "  openai:MODEL   A model behind an OpenAI-compatible server; options base_url, api_key_env, history, temperature."
    )
    print(
        "  hf:PATH_OR_ID  A model of Hugging Face transformers in this process; options mode, device, dtype, temperature."
    )
    print("  package.module:factory   A function of your own that returns a policy.")


def _description(factory: Callable[..., Any]) -> str:
    """Returns the first line of a policy's documentation, with what is set where it is another one with other dials."""
    dials = ""
    if isinstance(factory, partial):
        dials = f" ({', '.join(f'{name}={value}' for name, value in factory.keywords.items())})"
        factory = factory.func
    return (inspect.getdoc(factory) or "").split("\n")[0] + dials
