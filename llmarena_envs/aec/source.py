"""The module of an AEC environment: import, options and construction."""

import importlib
import inspect
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from gymnasium.error import DependencyNotInstalled
from pettingzoo import AECEnv

from llmarena_envs.aec.listing import GAMES, LISTED
from llmarena_envs.aec.rendering import rendering_of
from llmarena_envs.core.options import OptionError, check_int, nearest

RENDER_OPTIONS = ("render_mode", "screen_height", "screen_scaling", "screen_width")
"""Options of environments that only affect their rendering; they cannot be set."""


class Source(NamedTuple):
    """An environment's module with options; it makes the environments of matches.

    Attributes:
        module: name of the module.
        options: options of the environment.
        ansi: whether the environment renders text.
    """

    module: str
    options: Mapping[str, Any] = {}
    ansi: bool = False

    def make(self) -> AECEnv:
        """Returns a new environment, before its reset; of a listed game without PettingZoo's wrappers.

        Raises:
            DependencyNotInstalled: if a listed game needs a package that is not installed.
            OptionError: if the environment refuses the options.
        """
        module = import_module(self.module)
        make = module.raw_env if self.module in LISTED else getattr(module, "env", None) or module.raw_env
        options = {**self.options, "render_mode": "ansi"} if self.ansi else dict(self.options)
        try:
            with warnings.catch_warnings(), rendering_of(self.module).guard(None):
                warnings.simplefilter("ignore")
                env = make(**options)
        except ImportError as error:
            raise _missing(self.module, error) from error
        except Exception as error:  # an environment can raise anything
            raise OptionError(
                f"aec/{self.module}: the environment cannot be made with {options}: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(env, AECEnv):
            raise OptionError(
                f"aec/{self.module}: expected env() to return an AEC environment, got {type(env).__name__};"
                " convert a parallel environment with pettingzoo.utils.parallel_to_aec"
            )
        return env


def import_module(name: str) -> Any:
    """Imports the module of an environment.

    Raises:
        DependencyNotInstalled: if a listed game needs a package that is not installed.
        OptionError: if there is no such module, it cannot be imported, or it has neither ``env`` nor ``raw_env``.
    """
    if not all(part.isidentifier() for part in name.split(".")):
        raise OptionError(f"aec: expected aec/ and a module, e.g. aec/{GAMES[0]}, got {name!r}{nearest(name, GAMES)}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PettingZoo asks to use its registry
            module = importlib.import_module(name)
    except ImportError as error:
        raise _missing(name, error) from error
    except (Exception, SystemExit) as error:  # a module can raise anything
        raise OptionError(f"aec/{name}: {type(error).__name__} on import: {error}") from error
    if not (hasattr(module, "env") or hasattr(module, "raw_env")):
        raise OptionError(f"aec/{name}: expected a module with env or raw_env, as PettingZoo's environments are")
    return module


def _missing(name: str, error: ImportError) -> Exception:
    if name in LISTED:
        return DependencyNotInstalled(f"aec/{name}: {error}; pip install 'llmarena-envs[classic]'")
    return OptionError(f"aec/{name}: {error}{nearest(name, GAMES)}")


def parameters_of(name: str) -> dict[str, inspect.Parameter]:
    """Returns the options of an environment that can be set, by name.

    Raises:
        OptionError: as ``import_module``.
    """
    module = import_module(name)
    make = getattr(module, "raw_env", None) or module.env
    try:
        found = inspect.signature(make).parameters.values()
    except (TypeError, ValueError) as error:
        raise OptionError(f"aec/{name}: the options of the environment cannot be read: {error}") from error
    hidden = {*RENDER_OPTIONS, *(LISTED[name].omit if name in LISTED else ())}
    return {
        each.name: each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for each in found
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY) and each.name not in hidden
    }


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Checks the options of a listed game against their defaults and bounds; records of runs can hold any value.

    Raises:
        OptionError: if an option has another type than its default, or is out of its bounds.
    """
    if name not in LISTED:
        return
    parameters, bounds = parameters_of(name), LISTED[name].bounds
    for option, value in options.items():
        kind = type(parameters[option].default)
        if option in bounds:
            check_int(option, value, *bounds[option])
        elif type(value) is not kind and not (kind is float and type(value) is int):
            raise OptionError(f"aec/{name}: {option}: expected a value of the type {kind.__name__}, got {value!r:.80}")
