"""``llmarena list`` and ``llmarena check``: the environments of the suite and of other packages."""

import argparse
import inspect
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from agents.registry import baselines
from llmarena_envs.adapters import ADAPTERS, adapted_names, registry_id
from llmarena_envs.catalogue import (
    CATALOGUE,
    canonical_name,
    full_name,
    installed,
    load_environment,
    load_module,
    make_environment,
    module_name,
)
from llmarena_envs.core.options import OptionError, check_choice, check_int, parse_options
from llmarena_envs.core.terminal import printable
from llmarena_envs.testing import NEED_RESAMPLE, RULES, ConformanceError, check_environment
from rating.cli import flags
from rating.schemes.registry import find_scheme
from rating.store.environments import admit

_OURS = "llmarena-envs"

_EXIT_BROKEN = 1

_EVERYWHERE = {
    "human": "A person at the terminal.",
    "PROVIDER/MODEL": "A model of a known provider, e.g. openai/gpt-5, anthropic/..., openrouter/..., ollama/...",
    "openai:MODEL": "A model on an OpenAI-compatible server; options base_url, api_key_env, history, temperature.",
    "hf:PATH_OR_ID": "A Hugging Face model in this process; options mode, device, dtype, temperature.",
    "package.module:factory": "Your own function, which returns a policy.",
}
"""Policies for every environment."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``list``."""
    parser.add_argument(
        "env",
        nargs="?",
        type=full_name,
        metavar="ENV",
        help=f"list the policies of this environment, or the games of a collection: {', '.join(ADAPTERS)}",
    )


def main(args: argparse.Namespace) -> None:
    """Lists the environments, or one with its policies."""
    if args.env in ADAPTERS:
        _list_collection(args.env, as_json=args.json)
        return
    rows = [_named_row(args.env)] if args.env else list(_rows())
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        package = "" if row["distribution"] in (_OURS, "") else f"; package {row['distribution']}"
        agents = ", ".join(row["agents"])
        print(printable(f"{row['name']:22} {row['title']:16} {agents}; up to {row['max_turns']} turns{package}"))
    if args.env:
        for name, text in {**rows[0]["policies"], **_EVERYWHERE}.items():
            print(printable(f"  {name:14} {text}"))
    else:
        for collection in ADAPTERS:
            count = sum(name.startswith(f"{collection}/") for name in adapted_names())
            print(f"{collection}/...: {count} games; llmarena list {collection}")


def _list_collection(collection: str, *, as_json: bool) -> None:
    """Lists the games of an adapter."""
    names = [name for name in adapted_names() if name.startswith(f"{collection}/")]
    rows = [{"name": name, "id": registry_id(name), "title": load_environment(name).title} for name in names]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    for row in rows:
        print(printable(f"{row['name']:36} {row['title']}"))


def _named_row(env: str) -> dict[str, Any]:
    """Returns the metadata of an environment of the suite, of another package, or in a module."""
    admit([env])
    load_environment(env)
    name = canonical_name(env)
    for entry in CATALOGUE:
        if entry.name == module_name(name):
            return _row(name, entry.registry_id if name == entry.name else name, entry.title, _OURS)
    other = installed().environments.get(name)
    return _row(name, other.registry_id if other else name, _title(name), other.distribution if other else "")


def _rows() -> Iterator[dict[str, Any]]:
    """Yields the metadata of all environments. Prints a warning about each broken one of another package."""
    for entry in CATALOGUE:
        yield _row(entry.name, entry.registry_id, entry.title, _OURS)
    for refused in installed().refused:
        print(f"warning: {printable(refused.why)}", file=sys.stderr)
    for other in installed().environments.values():
        try:
            yield _row(other.name, other.registry_id, _title(other.name), other.distribution)
        except Exception as error:  # third-party code can raise anything
            reason = str(error) if isinstance(error, OptionError) else f"{type(error).__name__}: {error}"
            source = "" if other.distribution in reason else f"environment {other.name!r} of {other.distribution}: "
            print(f"warning: {printable(source + reason)}", file=sys.stderr)


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
            "policies": {policy: _description(factory) for policy, factory in sorted(baselines(name).items())},
        }
    finally:
        env.close()


def _title(name: str) -> str:
    """Returns the title of an environment that is not in the catalogue: its own, or the first line of its docstring."""
    if title := load_environment(name).title:
        return title
    documentation = sys.modules[load_environment(name).__module__].__doc__ or load_module(name).__doc__ or name
    return documentation.strip().partition("\n")[0].strip("# .")


def _description(function: Callable[..., Any]) -> str:
    """Returns the first line of a docstring, with preset arguments."""
    preset = ""
    if isinstance(function, partial):
        preset = f" ({', '.join(f'{name}={value}' for name, value in function.keywords.items())})"
        function = function.func
    return (inspect.getdoc(function) or "").split("\n")[0] + preset


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``check``."""
    parser.add_argument(
        "env",
        type=full_name,
        metavar="ENV",
        help="environment, e.g. tictactoe_v0 or ttt, or your own: nim.py, package.module",
    )
    flags.add_option(parser)
    parser.add_argument(
        "--seeds", type=flags.positive, default=6, metavar="N", help="random matches, at least 2 (default 6)"
    )


def check(args: argparse.Namespace) -> int:
    """Checks the rules in order up to the first broken one, and prints each.

    Returns:
        0 if all rules are kept, 1 if one is broken.
    """
    check_int("--seeds", args.seeds, 2, 10_000)
    options = parse_options(args.option, "--option")
    admit([args.env])
    raw_env = load_environment(args.env)
    if "obs_type" in options:
        check_choice("--option: obs_type", options["obs_type"], raw_env.obs_types)
    # Option errors are reported as such, not as a broken rule.
    make_environment(args.env, {name: value for name, value in options.items() if name != "obs_type"}).close()
    find_scheme(args.env, raw_env.declaration.scheme)
    module = load_module(args.env)
    skipped = () if raw_env.can_resample else NEED_RESAMPLE
    if skipped:
        print(f"not checked, since the game does not redraw hidden information: {', '.join(skipped)}")
    try:
        check_environment(
            module.env,
            options=options,
            parallel_env_fn=getattr(module, "parallel_env", None),
            seeds=range(args.seeds),
            on_kept=lambda rule: print(f"kept   {rule.__name__}: {_description(rule)}", flush=True),
            skip=skipped,
        )
    except ConformanceError as error:
        (broken,) = (rule for rule in RULES if rule.__name__ == error.rule)
        print(f"broken {broken.__name__}: {_description(broken)}")
        print(f"llmarena: {printable(str(error))}", file=sys.stderr)
        return _EXIT_BROKEN
    print(f"{args.env} keeps all {len(RULES) - len(skipped)} rules")
    return 0
