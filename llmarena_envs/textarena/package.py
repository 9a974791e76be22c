"""TextArena, imported when it is used."""

from functools import cache
from typing import Any

from gymnasium.error import DependencyNotInstalled

from llmarena_envs.core.libraries import why_unusable

VERSION = "0.7"
"""The supported minor version of TextArena."""


@cache
def import_textarena() -> Any:
    """Returns the module ``textarena``.

    Raises:
        DependencyNotInstalled: if it is not installed in the supported version.
    """
    reason = why_unusable("textarena", VERSION)
    if not reason:
        try:
            import textarena
        except ImportError as error:
            reason = f"textarena cannot be imported ({error})"
        else:
            return textarena
    raise DependencyNotInstalled(f"{reason}: pip install 'llmarena-envs[textarena]'")
