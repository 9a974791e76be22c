"""The environment class of each of TextArena's games."""

from functools import cache

from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.libraries import check_game
from llmarena_envs.textarena.env import ArenaEnv
from llmarena_envs.textarena.listing import GAMES, LISTED, REFUSED
from llmarena_envs.textarena.package import import_textarena


@cache
def load(game: str) -> type[ArenaEnv]:
    """Returns the environment class of a game.

    Args:
        game: TextArena's id, e.g. ``Poker-v0``.

    Raises:
        DependencyNotInstalled: if TextArena is not installed in the supported version.
        OptionError: if there is no such game, or it is not supported.
    """
    check_game("textarena", game, GAMES, REFUSED, "Nim-v0")
    import_textarena()
    listed = LISTED[game]
    scheme = "duels" if listed.players[0] == 2 else "mean_reward"
    members = {
        "__doc__": f"{game}, a game of TextArena, as an AEC environment.",
        "__module__": __name__,
        "listed": listed,
        "title": game.rpartition("-v")[0],
        "can_resample": False,
        "metadata": {**ArenaEnv.metadata, "name": f"textarena/{game.replace('-v', '_v')}"},
        "declaration": Declaration(scheme=scheme, illegal="random_legal"),
        "action_examples": listed.replies.examples,
    }
    return type(game, (ArenaEnv,), members)


def __getattr__(name: str) -> type[ArenaEnv]:
    """Returns the class of a game, which pickle looks up here."""
    if name not in LISTED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(name)
