"""Names of environments: those of the suite and modules of your own."""

import importlib
import inspect
from typing import Any

from pettingzoo import AECEnv

from llmarena_envs.catalogue import CATALOGUE, EnvironmentEntry, find
from llmarena_envs.core.options import OptionError, check_choice, nearest

_OWN_OPTIONS = ("obs_type", "render_mode")
"""Options that a match decides: its players read texts, and it shows nothing by itself."""


def resolve(name: str) -> EnvironmentEntry:
    """Returns the entry of an environment.

    Args:
        name: a module name of the suite such as ``tictactoe_v0``, its registry id ``llmarena/tictactoe-v0``, or
            ``package.module`` of a module with ``env`` and ``raw_env``.

    Raises:
        OptionError: if there is no such environment.
    """
    entry = find(name)
    if entry is not None:
        return entry
    if "." in name and all(part.isidentifier() for part in name.split(".")):
        return EnvironmentEntry(name, name, ())
    names = [entry.name for entry in CATALOGUE]
    raise OptionError(
        f"environment: expected one of {', '.join(names)}, or package.module with env and raw_env, got {name!r}"
        f"{nearest(name, names)}"
    )


def make_environment(name: str, options: dict[str, Any]) -> AECEnv:
    """Makes an environment.

    Args:
        name: as in ``resolve``.
        options: constructor options.

    Raises:
        OptionError: if there is no such environment or it does not take the options.
    """
    entry = resolve(name)
    try:
        module = importlib.import_module(entry.name if "." in entry.name else f"llmarena_envs.{entry.name}")
        env, raw_env = module.env, module.raw_env
    except (ImportError, AttributeError) as error:
        raise OptionError(f"environment {name!r}: expected a module with env and raw_env, but: {error}") from error
    known = [option for option in inspect.signature(raw_env).parameters if option not in _OWN_OPTIONS]
    for option in options:
        check_choice(f"environment {name!r}: option", option, known)
    return env(**options)
