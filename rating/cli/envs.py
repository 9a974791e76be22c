"""``llmarena envs``: lists the environments, including those of third-party packages."""

import argparse
import json
import sys
from typing import Any

from llmarena_envs.catalogue import (
    CATALOGUE,
    installed,
    load_environment,
    load_module,
    make_environment,
)
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable

_OURS = "llmarena-envs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds no arguments."""


def main(args: argparse.Namespace) -> None:
    """Lists the environments with their metadata. A broken third-party environment causes a warning."""
    rows = [_row(entry.name, entry.registry_id, entry.title, _OURS) for entry in CATALOGUE]
    warn_of_refused()
    for other in installed().environments.values():
        try:
            rows.append(_row(other.name, other.registry_id, _title(other.name), other.distribution))
        except Exception as error:  # third-party code can raise anything
            warn(other.name, other.distribution, error)
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


def warn_of_refused() -> None:
    """Prints a warning about each third-party package that was refused."""
    for refused in installed().refused:
        print(f"warning: {printable(refused.why)}", file=sys.stderr)


def warn(name: str, distribution: str, error: Exception) -> None:
    """Prints a warning about a third-party environment."""
    told = str(error) if isinstance(error, OptionError) else f"{type(error).__name__}: {error}"
    of = "" if distribution in told else f"environment {name!r} of {distribution}: "
    print(f"warning: {printable(of + told)}", file=sys.stderr)
