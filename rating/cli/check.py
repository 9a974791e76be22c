"""``llmarena check``: run the conformance suite on an environment."""

import argparse
import inspect
import sys
from collections.abc import Callable
from typing import Any

from llmarena_envs.catalogue import load_environment, load_module, make_environment
from llmarena_envs.core.options import check_choice, check_int, parse_options
from llmarena_envs.core.terminal import printable
from llmarena_envs.testing import RULES, ConformanceError, check_environment
from rating.cli import flags
from rating.schemes.registry import find_scheme
from rating.store.environments import admit

_EXIT_BROKEN = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument(
        "env", metavar="ENV", help="environment, e.g. tictactoe_v0, or package.module of one of your own"
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="option of the environment, e.g. language=zh"
    )
    parser.add_argument(
        "--seeds", type=flags.positive, default=6, metavar="N", help="seeds of random matches, at least 2 (default 6)"
    )


def main(args: argparse.Namespace) -> int:
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
    try:
        check_environment(
            module.env,
            options=options,
            parallel_env_fn=getattr(module, "parallel_env", None),
            seeds=range(args.seeds),
            on_kept=lambda rule: print(f"kept   {_told(rule)}", flush=True),
        )
    except ConformanceError as error:
        (broken,) = (rule for rule in RULES if rule.__name__ == error.rule)
        print(f"broken {_told(broken)}")
        print(f"llmarena: {printable(str(error))}", file=sys.stderr)
        return _EXIT_BROKEN
    return 0


def _told(rule: Callable[..., Any]) -> str:
    """Returns the name and the description of a rule."""
    return f"{rule.__name__}: {(inspect.getdoc(rule) or '').partition(chr(10))[0]}"
