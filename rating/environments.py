"""Names of environments: those of the suite and modules of your own."""

import importlib
from collections.abc import Callable
from typing import Any

from pettingzoo import AECEnv

from llmarena_envs.catalogue import CATALOGUE, EnvironmentEntry
from llmarena_envs.core.options import OptionError, nearest


def resolve(name: str) -> EnvironmentEntry:
    """Returns the entry of an environment.

    Args:
        name: a module name of the suite such as ``tictactoe_v0``, its registry id ``llmarena/tictactoe-v0``, or
            ``package.module`` of a module with an ``env`` function.

    Raises:
        OptionError: if there is no such environment.
    """
    for entry in CATALOGUE:
        if name in (entry.name, entry.registry_id):
            return entry
    if "." in name:
        return EnvironmentEntry(name, name, ())
    names = [entry.name for entry in CATALOGUE]
    raise OptionError(
        f"environment: expected one of {', '.join(names)}, or package.module with an env function, got {name!r}"
        f"{nearest(name, names)}"
    )


def env_function(name: str) -> Callable[..., AECEnv]:
    """Returns the function ``env(**options)`` of an environment.

    Raises:
        OptionError: if the module cannot be imported or has no such function.
    """
    entry = resolve(name)
    module = entry.name if "." in entry.name else f"llmarena_envs.{entry.name}"
    try:
        function = importlib.import_module(module).env
    except (ImportError, AttributeError) as error:
        raise OptionError(f"environment {name!r}: expected a module with a function env(), but: {error}") from error
    return function


def make_environment(name: str, options: dict[str, Any]) -> AECEnv:
    """Makes an environment with text observations.

    Raises:
        OptionError: if there is no such environment or it does not take the options.
    """
    try:
        return env_function(name)(**options)
    except TypeError as error:
        raise OptionError(f"environment {name!r} does not take these options: {error}") from error
