"""``llmarena envs`` and ``llmarena policies``: list environments and policies, including third-party packages."""

import argparse
import inspect
import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from agents.registry import baselines
from llmarena_envs.catalogue import (
    CATALOGUE,
    canonical_name,
    installed,
    load_environment,
    load_module,
    make_environment,
)
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.records.environments import admit

_OURS = "llmarena-envs"


def envs(args: argparse.Namespace) -> None:
    """Lists the environments with their metadata. A broken third-party environment causes a warning."""
    rows = [_row(entry.name, entry.registry_id, entry.title, _OURS) for entry in CATALOGUE]
    _warn_of_refused()
    for other in installed().environments.values():
        try:
            rows.append(_row(other.name, other.registry_id, _title(other.name), other.distribution))
        except Exception as error:  # third-party code can raise anything
            _warn(other.name, other.distribution, error)
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        of = "" if row["distribution"] == _OURS else f"; of {row['distribution']}"
        print(
            printable(
                f"{row['name']:22} {row['title']:16} {', '.join(row['agents'])}; up to {row['max_turns']} turns{of}"
            )
        )


def policies(args: argparse.Namespace) -> None:
    """Lists the policies by environment with the first line of their docstrings."""
    if args.env:
        admit([args.env])
        load_environment(args.env)
        name = canonical_name(args.env)
        table = {name: _players(name)}
    else:
        table = {entry.name: _players(entry.name) for entry in CATALOGUE}
        _warn_of_refused()
        for other in installed().environments.values():
            try:
                table[other.name] = _players(other.name)
            except OptionError as error:
                _warn(other.name, other.distribution, error)
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


def _row(name: str, registry_id: str, title: str, distribution: str) -> dict[str, Any]:
    """Returns the metadata of an environment with default options."""
    env = make_environment(name, {})
    try:
        return {
            "name": name,
            "id": registry_id,
            "title": title,
            "agents": list(env.possible_agents),
            "max_turns": env.unwrapped.max_turns,
            "abilities": list(env.unwrapped.declaration.abilities),
            "distribution": distribution,
        }
    finally:
        env.close()


def _title(name: str) -> str:
    """Returns the title of a third-party environment: the first line of its docstring."""
    documentation = sys.modules[load_environment(name).__module__].__doc__ or load_module(name).__doc__ or name
    return documentation.strip().partition("\n")[0].strip("# .")


def _warn_of_refused() -> None:
    for refused in installed().refused:
        print(f"warning: {printable(refused.why)}", file=sys.stderr)


def _warn(name: str, distribution: str, error: Exception) -> None:
    """Prints a warning about a third-party environment."""
    told = str(error) if isinstance(error, OptionError) else f"{type(error).__name__}: {error}"
    of = "" if distribution in told else f"environment {name!r} of {distribution}: "
    print(f"warning: {printable(of + told)}", file=sys.stderr)


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
