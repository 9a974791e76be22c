"""Environments of other installed packages, from their metadata; this module does not import them.

A package names its environments in an entry-point group, e.g. in its ``pyproject.toml``::

    [project.entry-points."llmarena_envs.environments"]
    dilemma_v0 = "dilemma.env"

The key is the environment's name in runs and records, the value its module with ``env``, ``raw_env`` and optionally
``parallel_env``.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from llmarena_envs.core.entry_points import Unreadable, find_entries, title_of

GROUP = "llmarena_envs.environments"

_NAME = re.compile(r"[a-z][a-z0-9_]{0,60}_v[0-9]{1,6}")


class Installed(NamedTuple):
    """An environment of an installed package.

    Attributes:
        name: name of the environment, e.g. ``dilemma_v0``.
        module: module with ``env`` and ``raw_env``, e.g. ``dilemma.env``.
        distribution: name and version of the distribution, e.g. ``iterated-dilemma 0.1.0``.
    """

    name: str
    module: str
    distribution: str

    @property
    def registry_id(self) -> str:
        """The id for ``pettingzoo.make`` under which the package should register it, e.g. ``dilemma/dilemma-v0``."""
        name, version = self.name.rsplit("_v", 1)
        return f"{self.module.partition('.')[0]}/{name}-v{version}"


class Refused(NamedTuple):
    """An environment with an invalid entry.

    Attributes:
        name: name from the package.
        why: error message with expected value, actual value and distribution.
    """

    name: str
    why: str


class Installations(NamedTuple):
    """The environments of installed packages.

    Attributes:
        environments: valid environments, by name, sorted by name.
        refused: invalid entries.
    """

    environments: Mapping[str, Installed]
    refused: tuple[Refused, ...]


@cache
def find_installed(taken: frozenset[str]) -> Installations:
    """Searches the metadata of all installed distributions, once per process.

    Args:
        taken: names of this suite, reserved.
    """
    claims: dict[str, list[Installed]] = defaultdict(list)
    refused = []
    for entry in find_entries(GROUP):
        if isinstance(entry, Unreadable):
            name = entry.distribution.partition(" ")[0]
            refused.append(Refused(name, f"environments of {entry.distribution}: {entry.why}"))
            continue
        environment = Installed(entry.name, entry.value, entry.distribution)
        if why := _fault(environment, taken):
            refused.append(Refused(environment.name, why))
        else:
            claims[environment.name].append(environment)
    environments = {}
    for name in sorted(claims):
        if len(claims[name]) == 1:
            (environments[name],) = claims[name]
        else:
            owners = " and ".join(sorted(f"{each.distribution} ({each.module})" for each in claims[name]))
            refused.append(
                Refused(
                    name,
                    f"environment {name!r}: {owners} both have one; uninstall one of them, or call it by its module",
                )
            )
    return Installations(environments, tuple(refused))


def _fault(entry: Installed, taken: frozenset[str]) -> str:
    """Returns the error of a name or a module, or an empty string."""
    where = f"environment {entry.name!r} of {entry.distribution}"
    if not _NAME.fullmatch(entry.name):
        return f"{where}: expected a name of small letters, digits and _ that ends in a version, e.g. dilemma_v0"
    if not all(part.isidentifier() for part in entry.module.split(".")):
        return f"{where}: expected the name of a module, e.g. dilemma.env, got {entry.module!r}"
    if entry.name in taken:
        return f"{where}: the suite itself has an environment of this name; call this one by its module, {entry.module}"
    return ""


def distribution_of(module: str) -> str:
    """Returns name and version of the distribution that installed a module; empty if unknown."""
    from importlib import metadata, util

    spec = util.find_spec(module)
    if spec is None or spec.origin is None:
        return ""
    file = Path(spec.origin)
    depth = module.count(".") + (file.stem == "__init__")
    root = file.parents[depth]
    line = f"\n{file.relative_to(root).as_posix()},"
    for distribution in metadata.distributions(path=[str(root)]):
        with suppress(OSError, UnicodeDecodeError):
            if line in f"\n{distribution.read_text('RECORD') or ''}":
                return title_of(distribution)
    return ""
