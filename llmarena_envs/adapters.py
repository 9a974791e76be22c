"""Adapters for the games of other packages, named ``COLLECTION/GAME``, e.g. ``openspiel/kuhn_poker``.

An adapter is a package with two modules. ``listing`` holds ``GAMES``, the names of its games, and ``SIMULTANEOUS``, those whose
agents act at once; it is imported with the suite and does not import the library. ``classes`` holds
``load(game) -> type[TextEnv]``, which raises ``OptionError`` for an unknown or unsupported game, with the reason, and
``DependencyNotInstalled`` without the library.
"""

import importlib
import re
from functools import cache
from importlib import metadata
from typing import Any, NamedTuple

from gymnasium.error import DependencyNotInstalled

from llmarena_envs import installed
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.parallel import parallel_form
from llmarena_envs.core.text_env import TextEnv

ADAPTERS = {
    "aec": "llmarena_envs.aec",
    "openspiel": "llmarena_envs.openspiel",
    "textarena": "llmarena_envs.textarena",
}
"""The package of each adapter by the prefix of its names."""

_DISTRIBUTIONS = {"openspiel": "open_spiel", "textarena": "textarena"}
"""The distribution of the games of an adapter; in any other adapter, the games are modules."""

_VERSION = re.compile(r"[-_]v\d+$")


class AdaptedModule(NamedTuple):
    """The contents of an environment's module, for a game of an adapter.

    Attributes:
        env: makes the environment with its order check.
        raw_env: its class.
        parallel_env: makes its parallel form; ``None`` if its agents never act at once.
    """

    env: Any
    raw_env: type[TextEnv]
    parallel_env: Any


def split_name(name: str) -> tuple[str, str] | None:
    """Returns collection and game of a name; ``None`` if no adapter has this prefix."""
    collection, slash, game = name.partition("/")
    return (collection, game) if slash and collection in ADAPTERS else None


def adapted_names() -> tuple[str, ...]:
    """Returns the names of all games of all adapters."""
    return _names("GAMES")


def simultaneous_names() -> tuple[str, ...]:
    """Returns the names of the games whose agents act at once."""
    return _names("SIMULTANEOUS")


@cache
def _names(attribute: str) -> tuple[str, ...]:
    return tuple(
        f"{collection}/{game}"
        for collection, package in ADAPTERS.items()
        for game in getattr(importlib.import_module(f"{package}.listing"), attribute)
    )


def distribution_of(name: str) -> str:
    """Returns name and version of the distribution of an adapter's game, e.g. ``open_spiel 2.0.2``; empty if not installed."""
    collection, _, game = name.partition("/")
    distribution = _DISTRIBUTIONS.get(collection)
    try:
        return f"{distribution} {metadata.version(distribution)}" if distribution else installed.distribution_of(game)
    except (metadata.PackageNotFoundError, ImportError):
        return ""


def registry_id(name: str) -> str:
    """Returns the id for ``pettingzoo.make`` of an adapter's game, e.g. ``llmarena/openspiel:kuhn_poker-v0``.

    PettingZoo allows one slash in an id. The version is 0 unless the game's name ends in one.
    """
    version = "" if _VERSION.search(name) else "-v0"
    return f"llmarena/{name.replace('/', ':')}{version}"


def load_adapted(name: str) -> AdaptedModule:
    """Returns the module of an adapter's game.

    Raises:
        OptionError: if there is no such game, it is not supported, or its library is missing.
    """
    collection, game = name.split("/", 1)
    try:
        raw_env: type[TextEnv] = importlib.import_module(f"{ADAPTERS[collection]}.classes").load(game)
    except DependencyNotInstalled as error:
        raise OptionError(f"environment {name!r}: {error}") from error
    env: Any = order_checked(raw_env)
    return AdaptedModule(env, raw_env, parallel_form(env) if raw_env.metadata["is_parallelizable"] else None)


def make_adapted(name: str, **options: Any) -> Any:
    """Makes an adapter's game as an AEC environment with its order check.

    Args:
        name: name of the game, e.g. ``openspiel/kuhn_poker``.
        options: options of the environment.

    Raises:
        OptionError: as ``load_adapted``, and if an option is not valid.
    """
    return load_adapted(name).env(**options)


def make_adapted_parallel(name: str, **options: Any) -> Any:
    """Makes an adapter's game as a parallel environment; arguments as in ``make_adapted``.

    Raises:
        OptionError: as ``make_adapted``, and if the agents take turns.
    """
    parallel_env = load_adapted(name).parallel_env
    if parallel_env is None:
        raise OptionError(
            f"environment {name!r}: expected a game whose agents act at once, but they take turns; use env"
        )
    return parallel_env(**options)
