"""``llmarena check``: the conformance suite on one environment."""

import argparse
import inspect
import sys
from collections.abc import Callable
from typing import Any

from llmarena_envs.catalogue import load_module, make_environment
from llmarena_envs.core.options import check_int, parse_options
from llmarena_envs.core.terminal import printable
from llmarena_envs.testing import RULES, ConformanceError, check_environment

_EXIT_BROKEN = 1


def check(args: argparse.Namespace) -> int:
    """Checks every rule up to the first broken one, and prints those that are kept.

    Returns:
        0 if all are kept, 1 if one is broken.
    """
    check_int("--seeds", args.seeds, 2, 10_000)
    options = parse_options(args.option, "--option")
    make_environment(args.env, options).close()  # what is wrong with the options is no broken rule
    module = load_module(args.env)
    broken = None
    try:
        check_environment(
            module.env,
            options=options,
            parallel_env_fn=getattr(module, "parallel_env", None),
            seeds=range(args.seeds),
        )
    except ConformanceError as error:
        broken = error
    for rule in RULES:
        if broken is not None and rule.__name__ == broken.rule:
            print(f"broken {_told(rule)}")
            print(f"llmarena: {printable(str(broken))}", file=sys.stderr)
            return _EXIT_BROKEN
        print(f"kept   {_told(rule)}")
    return 0


def _told(rule: Callable[..., Any]) -> str:
    """Returns the name of a rule and what must hold."""
    return f"{rule.__name__}: {(inspect.getdoc(rule) or '').partition(chr(10))[0]}"
