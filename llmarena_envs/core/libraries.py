"""Checks of optional libraries and of the games in them."""

from collections.abc import Collection, Mapping
from importlib import metadata

from llmarena_envs.core.options import OptionError, nearest


def why_unusable(library: str, minor: str) -> str:
    """Returns why a library cannot be used, or an empty text.

    Args:
        library: name of the distribution.
        minor: the supported minor version, e.g. ``0.7``.
    """
    try:
        version = metadata.version(library)
    except metadata.PackageNotFoundError:
        return f"{library} is not installed"
    return "" if version.split(".")[:2] == minor.split(".") else f"expected {library} {minor}, got {version}"


def check_game(library: str, game: str, listed: Collection[str], refused: Mapping[str, str], example: str) -> None:
    """Checks that a game of a library is supported.

    Args:
        library: the first part of the game's name, e.g. ``openspiel``.
        game: the game.
        listed: the supported games.
        refused: the games that are not supported, each with the reason.
        example: a supported game, for the message.

    Raises:
        OptionError: if it is not supported, or there is no such game.
    """
    if game in refused:
        raise OptionError(f"{library}/{game}: not supported: {refused[game]}")
    if game not in listed:
        raise OptionError(
            f"{library}: expected one of {len(listed)} games, e.g. {example}, got {game!r}{nearest(game, listed)}"
        )
