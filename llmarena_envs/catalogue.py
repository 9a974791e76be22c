"""The catalogue: names and titles of the suite's environments, and lookup of any environment by name.

Other properties of an environment are in the declaration of its class (``core.declaration``).
"""

import importlib
import inspect
import re
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any, NamedTuple

from gymnasium.error import DependencyNotInstalled
from pettingzoo import AECEnv

from llmarena_envs import adapters
from llmarena_envs.adapters import AdaptedModule, adapted_names, load_adapted, registry_id, split_name
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import OptionError, check_choice, nearest
from llmarena_envs.core.order import order_checked
from llmarena_envs.core.parallel import parallel_form
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.installed import Installations, distribution_of, find_installed

_LABEL = re.compile(r"[\w-]{1,40}")
_ISOMORPH = re.compile(r"isomorph=(0|[1-9]\d{0,8})", re.ASCII)
_OWN_OPTIONS = ("obs_type", "render_mode")
"""Options set by the match: text observations, no rendering."""


class Entry(NamedTuple):
    """One environment of the suite.

    Attributes:
        name: module name below ``llmarena_envs``, e.g. ``tictactoe_v0``.
        title: name of the game for people.
        simultaneous: whether a ``parallel_env`` exists.
        short: short names, besides the name without its version.
    """

    name: str
    title: str
    simultaneous: bool = False
    short: tuple[str, ...] = ()

    @property
    def registry_id(self) -> str:
        """The id for ``pettingzoo.make``, e.g. ``llmarena/tictactoe-v0``."""
        name, version = self.name.rsplit("_v", 1)
        return f"llmarena/{name}-v{version}"


CATALOGUE = (
    Entry("tictactoe_v0", "Tic-tac-toe", short=("ttt",)),
    Entry("connect_four_v0", "Connect four", short=("connect4",)),
    Entry("holdem_v0", "Hold'em", short=("poker",)),
    Entry("bargain_v0", "Bargain"),
    Entry("bid_v0", "Bid", simultaneous=True, short=("auction",)),
    Entry("undercover_v0", "Undercover"),
    Entry("hanabi_v0", "Hanabi"),
    Entry("public_goods_v0", "Public goods", simultaneous=True, short=("goods",)),
    Entry("idiom_solitaire_v0", "Idiom solitaire", short=("idioms",)),
    Entry("writer_editor_v0", "Writer and editor", short=("writer",)),
    Entry("debate_v0", "Debate"),
    Entry("simulation_v0", "Simulation"),
)

NAMES = tuple(entry.name for entry in CATALOGUE)
"""Names of the suite's environments."""


_SHORT = {short: entry.name for entry in CATALOGUE for short in (entry.name.rpartition("_v")[0], *entry.short)}


class EnvironmentName(NamedTuple):
    """The parts of the name of an environment, ``MODULE[?isomorph=SEED][#LABEL]``.

    Attributes:
        module: name of the module, or another name of the game.
        isomorph: seed of the isomorph; ``None`` for the game in its own names.
        label: label; empty for none.
    """

    module: str
    isomorph: int | None = None
    label: str = ""

    def __str__(self) -> str:
        isomorph = "" if self.isomorph is None else f"?isomorph={self.isomorph}"
        return f"{self.module}{isomorph}{'#' if self.label else ''}{self.label}"


def parse_name(name: str) -> EnvironmentName:
    """Parses the name of an environment.

    Raises:
        OptionError: if the text after ``?`` or ``#`` is not valid.
    """
    rest, sign, label = name.partition("#")
    module, mark, query = rest.partition("?")
    if sign and not _LABEL.fullmatch(label):
        raise OptionError(
            f"environment {name!r}: expected a label of letters, digits, _ and - behind '#', e.g. {module}#first; got {label!r}"
        )
    isomorph = _ISOMORPH.fullmatch(query)
    if mark and isomorph is None:
        raise OptionError(
            f"environment {name!r}: expected isomorph and a seed of at most nine digits behind '?', e.g. {module}?isomorph=7;"
            f" got {query!r:.60}"
        )
    return EnvironmentName(module, int(isomorph[1]) if isomorph else None, label)


def full_name(name: str) -> str:
    """Returns the name of a game of the suite for a short name such as ``ttt``, and any other name unchanged."""
    short = re.split(r"[?#]", name, maxsplit=1)[0]
    return f"{_SHORT.get(short, short)}{name[len(short) :]}"


def installed() -> Installations:
    """Returns the environments of other installed packages; searched on first use."""
    return find_installed(frozenset(NAMES))


def canonical_name(name: str) -> str:
    """Returns the name for runs and records: the module name for a registry id or a Python file, any other name unchanged.

    The seed of an isomorph after ``?`` is preserved (``llmarena_envs.isomorph``), and a label after ``#``: it distinguishes uses
    of an environment with different options in one run, e.g. ``writer_editor_v0#translation``.
    """
    module = re.split(r"[?#]", name, maxsplit=1)[0]
    rest = name[len(module) :]
    if module.endswith(".py"):
        module = ".".join(PurePath(module).with_suffix("").parts)
    elif "/" in module and split_name(module) is None:
        ids = {entry.registry_id: entry.name for entry in installed().environments.values()}
        ids.update((entry.registry_id, entry.name) for entry in CATALOGUE)
        ids.update((registry_id(name), name) for name in adapted_names())
        module = ids.get(module, module)
    return module + rest


def module_name(name: str) -> str:
    """Returns the name of an environment's module: its canonical name without isomorph and label.

    Raises:
        OptionError: if the text after ``?`` or ``#`` is not valid.
    """
    return parse_name(canonical_name(name)).module


def load_environment(name: str) -> type[TextEnv]:
    """Returns the class of an environment, with its declaration.

    Args:
        name: a module name of the suite such as ``tictactoe_v0``, the game of an adapter such as ``openspiel/chess``, the
            name of an environment of an installed package, the registry id of any of these, or
            ``package.module`` or ``package/module.py`` of a module with ``env`` and ``raw_env``;
            optionally with ``?isomorph=SEED`` and a label after ``#``.

    Raises:
        OptionError: if there is no such environment, or it cannot be used; the message names the distribution.
    """
    raw_env = load_module(name).raw_env
    if not (inspect.isclass(raw_env) and issubclass(raw_env, TextEnv)):
        raise OptionError(
            f"{_described(name)}: expected raw_env to be a subclass of TextEnv, since what is to be known of an environment"
            f" stands in its class; got {raw_env!r}"
        )
    if not isinstance(raw_env.declaration, Declaration):
        raise OptionError(f"{_described(name)}: expected a Declaration in raw_env, got {raw_env.declaration!r}")
    return raw_env


def is_known(name: str) -> bool:
    """Says whether a name or module is of an environment of the suite, of an adapter or of an installed package.

    Raises:
        OptionError: if the text after ``#`` is not a valid label.
    """
    name = module_name(name)
    others = installed().environments
    return (
        name in NAMES
        or name in others
        or name in {each.module for each in others.values()}
        or (split_name(name) is not None and name in adapted_names())
    )


def option_names(name: str) -> list[str]:
    """Returns the constructor options of an environment that a run can set.

    Raises:
        OptionError: if there is no such environment.
    """
    return [option for option in inspect.signature(load_environment(name)).parameters if option not in _OWN_OPTIONS]


def make_environment(name: str, options: Mapping[str, Any] | None = None) -> AECEnv:
    """Makes an environment with its order check.

    Args:
        name: as in ``load_environment``.
        options: constructor options; by default the options of rated matches.

    Raises:
        OptionError: if there is no such environment, it does not accept the options, or a required package is missing.
    """
    options = load_environment(name).declaration.rated_options if options is None else options
    known = option_names(name)
    for option in options:
        check_choice(f"environment {name!r}: option", option, known)
    try:
        return load_module(name).env(**options)
    except DependencyNotInstalled as error:
        raise OptionError(f"environment {name!r}: {error}") from error


def origin(name: str) -> str:
    """Returns name and version of the distribution of an external environment.

    Empty for an environment of the suite, and for a module without a known distribution.
    """
    name = module_name(name)
    if name in NAMES:
        return ""
    if split_name(name) is not None:
        return adapters.distribution_of(name)
    known = installed().environments.values()
    return next((each.distribution for each in known if name in (each.name, each.module)), "") or distribution_of(name)


def load_module(name: str) -> Any:
    """Imports the module of an environment, with ``env``, ``raw_env`` and possibly ``parallel_env``.

    Raises:
        OptionError: if there is no such environment or it cannot be imported.
    """
    where, (name, isomorph, _) = _described(name), parse_name(canonical_name(name))
    if isomorph is not None:
        return _load_isomorph(name, isomorph)
    if split_name(name) is not None:
        return load_adapted(name)
    path = f"llmarena_envs.{name}" if name in NAMES else _module_path(name, where)
    try:
        module = importlib.import_module(path)
        module.env, module.raw_env  # noqa: B018 - both must be there
    except (Exception, SystemExit) as error:  # external code can raise anything on import
        if name in NAMES and not isinstance(error, ImportError):
            raise
        what = "" if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: "
        raise OptionError(f"{where}: expected a module with env and raw_env in {path}, but: {what}{error}") from error
    return module


@cache
def _load_isomorph(name: str, seed: int) -> AdaptedModule:
    """Returns the module of an isomorph of a game.

    Args:
        name: module name of the game.
        seed: seed of the isomorph.

    Raises:
        OptionError: if there is no such game, or it has no isomorphs.
    """
    from llmarena_envs.isomorph import disguised

    raw_env = disguised(load_environment(name), name, seed)
    env: Any = order_checked(raw_env)
    env.__qualname__ = f"{raw_env.__qualname__}:env"
    return AdaptedModule(env, raw_env, parallel_form(env) if raw_env.metadata["is_parallelizable"] else None)


def _module_path(name: str, where: str) -> str:
    """Returns the module of an environment that is not of this suite."""
    found = installed()
    if name in found.environments:
        return found.environments[name].module
    if all(part.isidentifier() for part in name.split(".")) and ("." in name or find_spec(name) is not None):
        return name
    if ".py" in where:
        raise OptionError(f"{where}: expected a Python file in the current directory or a folder of it")
    raise OptionError(next((each.why for each in found.refused if each.name == name), _unknown(name)))


def _described(name: str) -> str:
    """Returns the description of an environment in messages: its name, and the distribution if that defines the name."""
    module = module_name(name)
    other = None if module in NAMES or "." in module else installed().environments.get(module)
    return f"environment {name!r}" + (f" of {other.distribution}" if other else "")


def _unknown(name: str) -> str:
    names = [*NAMES, *installed().environments]
    return (
        f"environment: expected one of {', '.join(names)}, or a module with env and raw_env, got {name!r}"
        f" (one of another package is known by its name where that package is installed){nearest(name, names)}"
    )
