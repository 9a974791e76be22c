"""The catalogue: names and titles of the suite's environments, and how an environment is found by its name.

Everything else that is to be known of an environment stands in its class (``core.declaration``).
"""

import importlib
import inspect
import re
from typing import Any, NamedTuple

from gymnasium.error import DependencyNotInstalled
from pettingzoo import AECEnv

from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import OptionError, check_choice, nearest
from llmarena_envs.core.text_env import TextEnv

_LABEL = re.compile(r"[\w-]{1,40}")
_OWN_OPTIONS = ("obs_type", "render_mode")
"""Options that a match decides: its players read texts, and it shows nothing by itself."""


class Entry(NamedTuple):
    """One environment of the suite.

    Attributes:
        name: module name below ``llmarena_envs``, e.g. ``tictactoe_v0``.
        title: what a person calls the game.
        simultaneous: whether a ``parallel_env`` exists.
    """

    name: str
    title: str
    simultaneous: bool = False

    @property
    def registry_id(self) -> str:
        """The id for ``pettingzoo.make``, e.g. ``llmarena/tictactoe-v0``."""
        name, version = self.name.rsplit("_v", 1)
        return f"llmarena/{name}-v{version}"


CATALOGUE = (
    Entry("tictactoe_v0", "Tic-tac-toe"),
    Entry("connect_four_v0", "Connect four"),
    Entry("holdem_v0", "Hold'em"),
    Entry("bargain_v0", "Bargain"),
    Entry("bid_v0", "Bid", simultaneous=True),
    Entry("undercover_v0", "Undercover"),
    Entry("hanabi_v0", "Hanabi"),
    Entry("public_goods_v0", "Public goods", simultaneous=True),
    Entry("idiom_solitaire_v0", "Idiom solitaire"),
    Entry("writer_editor_v0", "Writer and editor"),
    Entry("debate_v0", "Debate"),
    Entry("simulation_v0", "Simulation"),
)


def canonical_name(name: str) -> str:
    """Returns the one name that runs and records use: the module name for a registry id, any other name unchanged.

    A label behind ``#`` stays: it tells apart what is played twice in one run, with different options, e.g.
    ``writer_editor_v0#translation``.
    """
    module, sign, label = name.partition("#")
    return next((entry.name for entry in CATALOGUE if module == entry.registry_id), module) + sign + label


def module_name(name: str) -> str:
    """Returns the name of an environment's module: its canonical name without a label.

    Raises:
        OptionError: if what stands behind ``#`` is no label.
    """
    module, sign, label = canonical_name(name).partition("#")
    if sign and not _LABEL.fullmatch(label):
        raise OptionError(
            f"environment {name!r}: expected a label of letters, digits, _ and - behind '#', e.g. {module}#first; got {label!r}"
        )
    return module


def load_environment(name: str) -> type[TextEnv]:
    """Returns the class of an environment, which declares what is to be known of it.

    Args:
        name: a module name of the suite such as ``tictactoe_v0``, its registry id ``llmarena/tictactoe-v0``, or
            ``package.module`` of a module with ``env`` and ``raw_env``; with a label behind ``#`` or without.

    Raises:
        OptionError: if there is no such environment.
    """
    raw_env = _module(name).raw_env
    if not (inspect.isclass(raw_env) and issubclass(raw_env, TextEnv)):
        raise OptionError(
            f"environment {name!r}: expected raw_env to be a subclass of TextEnv, since what is to be known of an environment"
            f" stands in its class; got {raw_env!r}"
        )
    if not isinstance(raw_env.declaration, Declaration):
        raise OptionError(f"environment {name!r}: expected a Declaration in raw_env, got {raw_env.declaration!r}")
    return raw_env


def option_names(name: str) -> list[str]:
    """Returns the names of the constructor options of an environment that a run may give.

    Raises:
        OptionError: if there is no such environment.
    """
    return [option for option in inspect.signature(load_environment(name)).parameters if option not in _OWN_OPTIONS]


def make_environment(name: str, options: dict[str, Any]) -> AECEnv:
    """Makes an environment with its order check.

    Args:
        name: as in ``load_environment``.
        options: constructor options.

    Raises:
        OptionError: if there is no such environment, it does not take the options, or a package that it needs is missing.
    """
    known = option_names(name)
    for option in options:
        check_choice(f"environment {name!r}: option", option, known)
    try:
        return _module(name).env(**options)
    except DependencyNotInstalled as error:
        raise OptionError(f"environment {name!r}: {error}") from error


def _module(name: str) -> Any:
    """Imports the module of an environment."""
    name = module_name(name)
    names = [entry.name for entry in CATALOGUE]
    own = "." in name and all(part.isidentifier() for part in name.split("."))
    if name not in names and not own:
        raise OptionError(
            f"environment: expected one of {', '.join(names)}, or package.module with env and raw_env, got {name!r}"
            f"{nearest(name, names)}"
        )
    try:
        module = importlib.import_module(name if own else f"llmarena_envs.{name}")
        module.env, module.raw_env  # noqa: B018 - both must be there
    except (ImportError, AttributeError) as error:
        raise OptionError(f"environment {name!r}: expected a module with env and raw_env, but: {error}") from error
    return module
