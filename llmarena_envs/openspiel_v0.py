"""OpenSpiel's games, version 0; see ``llmarena_envs.openspiel``."""

from typing import Any

from llmarena_envs.adapters import make_adapted, make_adapted_parallel

__all__ = ["env", "parallel_env"]


def env(game: str, **options: Any) -> Any:
    """Makes a game of OpenSpiel as an AEC environment.

    Args:
        game: OpenSpiel's short name, e.g. ``kuhn_poker``.
        options: options of ``llmarena_envs.openspiel.env`` and parameters of the game, e.g. ``players=3``.

    Raises:
        OptionError: if the game or an option is not valid, or OpenSpiel is not installed.
    """
    return make_adapted(f"openspiel/{game}", **options)


def parallel_env(game: str, **options: Any) -> Any:
    """Makes a game of OpenSpiel whose players act at once as a parallel environment; arguments as in ``env``.

    Raises:
        OptionError: as ``env``, and if the players take turns.
    """
    return make_adapted_parallel(f"openspiel/{game}", **options)
