"""User functions named by an option as ``module:function``."""

import importlib
from collections.abc import Callable
from typing import Any

from llmarena_envs.core.options import OptionError


def find_function(option: str, spec: str) -> Callable[..., Any]:
    """Returns the function named by an option.

    Args:
        option: name of the option, for errors.
        spec: ``module:function``; the module must be importable, e.g. a file in the working directory.

    Raises:
        OptionError: if the function does not exist.
    """
    module, colon, name = spec.partition(":")
    if not colon or not name.isidentifier() or not all(part.isidentifier() for part in module.split(".")):
        raise OptionError(f"{option}: expected module:function, got {spec!r:.200}")
    try:
        function = getattr(importlib.import_module(module), name, None)
    except ImportError as error:
        raise OptionError(f"{option}: cannot import {module!r}: {error}") from error
    if not callable(function):
        raise OptionError(f"{option}: expected a function {name!r} in {module}, got {function!r:.80}")
    found: Callable[..., Any] = function
    return found
