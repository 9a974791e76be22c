"""The schemes by name.

An installed package adds schemes with an entry-point group, e.g. in its ``pyproject.toml``::

    [project.entry-points."llmarena.schemes"]
    median_reward = "my_package.median:MedianReward"

The key is the scheme's name in run files and environment declarations.
"""

import importlib
from typing import TypeVar

from llmarena_envs.core.entry_points import Entry, find_entries
from llmarena_envs.core.options import OptionError, check_choice
from rating.schemes.base import Scheme
from rating.schemes.cooperation import Cooperation
from rating.schemes.duels import Duels
from rating.schemes.field import Field
from rating.schemes.rewards import MeanReward, SelfPlay
from rating.schemes.roles import Roles
from rating.schemes.tournament import Tournament

GROUP = "llmarena.schemes"

SCHEMES: dict[str, type[Scheme]] = {
    scheme.name: scheme for scheme in (Duels, MeanReward, Cooperation, Roles, SelfPlay, Field, Tournament)
}
"""Schemes by name."""

SchemeClass = TypeVar("SchemeClass", bound=type[Scheme])


def register(scheme: SchemeClass) -> SchemeClass:
    """Registers a scheme under its name in this process; also a class decorator.

    Raises:
        OptionError: if the name belongs to another scheme.
    """
    known = SCHEMES.setdefault(scheme.name, scheme)
    if (known.__module__, known.__qualname__) != (scheme.__module__, scheme.__qualname__):
        raise OptionError(
            f"scheme {scheme.name!r}: expected a new name; {known.__module__}.{known.__qualname__} has this one"
        )
    SCHEMES[scheme.name] = scheme
    return scheme


def find_scheme(environment: str, name: str) -> type[Scheme]:
    """Returns the scheme of a name, declared by an environment or set in a run.

    Raises:
        OptionError: if the name is unknown; the message lists the known ones.
    """
    if name not in SCHEMES:
        entries = [entry for entry in find_entries(GROUP) if isinstance(entry, Entry)]
        for entry in entries:
            if entry.name == name:
                _load(entry)
        check_choice(f"{environment}: scheme", name, dict.fromkeys((*SCHEMES, *(entry.name for entry in entries))))
    return SCHEMES[name]


def _load(entry: Entry) -> None:
    """Registers the scheme of an entry point.

    Raises:
        OptionError: if it cannot be imported, or is not a scheme of this name.
    """
    where = f"scheme {entry.name!r} of {entry.distribution}"
    module, _, attribute = entry.value.partition(":")
    try:
        scheme = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise OptionError(f"{where}: importing {entry.value} failed ({type(error).__name__}: {error})") from error
    if not (isinstance(scheme, type) and issubclass(scheme, Scheme) and scheme.name == entry.name):
        raise OptionError(f"{where}: expected a subclass of Scheme with this name, got {entry.value}")
    register(scheme)
