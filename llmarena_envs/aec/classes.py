"""The class of each AEC environment."""

import inspect
import re
from functools import cache
from typing import Any

from gymnasium.error import DependencyNotInstalled

from llmarena_envs.aec.env import AecEnv
from llmarena_envs.aec.listing import LISTED
from llmarena_envs.aec.source import import_module, parameters_of
from llmarena_envs.core.declaration import Declaration

_PREFIX = "aec:"
_LISTED_OPTIONS = ("hint", "random_opening", "max_turns", "obs_type", "render_mode")


@cache
def load(module: str) -> type[AecEnv]:
    """Returns the class of an environment. Importing its module runs its code.

    Args:
        module: name of the environment's module, e.g. ``pettingzoo.classic.chess_v6``.

    Raises:
        DependencyNotInstalled: if a listed game needs a package that is not installed.
        OptionError: if there is no such module, or it holds no environment.
    """
    parameters = parameters_of(module)
    listed = LISTED.get(module)
    own = [
        each
        for each in inspect.signature(AecEnv).parameters.values()
        if each.kind == each.KEYWORD_ONLY and (listed is None or each.name in _LISTED_OPTIONS)
    ]
    taken = {each.name for each in own}
    title = listed.title if listed else _title(module)
    opening = {"random_opening": listed.random_opening} if listed and listed.random_opening else {}
    version = "" if re.search(r"_v\d+$", module) else "_v0"
    members: dict[str, Any] = {
        "__doc__": f"{title}, an AEC environment of the module {module}, as a text environment.",
        "__module__": __name__,
        "module": module,
        "title": title,
        "metadata": {**AecEnv.metadata, "name": f"aec/{module}{version}"},
        "declaration": Declaration(
            scheme=listed.scheme if listed else "duels", rated_options=opening, illegal="random_legal"
        ),
        "can_resample": listed is not None and listed.perfect_information,
        "obs_types": ("text", "vector") if listed and listed.vector else ("text",),
    }
    made = type(
        f"{_PREFIX}{module.replace('.', ':')}", (AecEnv,), members
    )  # without dots, so that pickle finds it here
    made.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*own, *[each for name, each in parameters.items() if name not in taken]]
    )
    return made


def _title(module: str) -> str:
    found = import_module(module)
    metadata = getattr(getattr(found, "raw_env", None), "metadata", None)
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and name else module


def __getattr__(name: str) -> type[AecEnv]:
    """Returns the class of an environment, which pickle looks up here."""
    if not name.startswith(_PREFIX):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return load(name.removeprefix(_PREFIX).replace(":", "."))
    except DependencyNotInstalled as error:
        raise AttributeError(str(error)) from error
