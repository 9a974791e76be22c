"""The classes of isomorphs by name, for pickle."""

from typing import Any

from llmarena_envs.catalogue import load_module
from llmarena_envs.isomorph.env import DOT


def __getattr__(name: str) -> Any:
    """Returns the class of an isomorph, or its ``env`` or ``parallel_env``."""
    if "?isomorph=" not in name:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    environment, _, attribute = name.replace(DOT, ".").partition(":")
    return getattr(load_module(environment), attribute or "raw_env")
