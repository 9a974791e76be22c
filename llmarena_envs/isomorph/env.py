"""The class of an environment under a renaming."""

from functools import wraps
from typing import Any

from llmarena_envs.core.drawing import Drawing, TextDrawing
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.isomorph.codec import DisguisedCodec
from llmarena_envs.isomorph.declared import declared
from llmarena_envs.isomorph.generic import words_of
from llmarena_envs.isomorph.renaming import Renaming

MAX_RENAMINGS = 256
"""Maximum number of renamings kept for further environments."""

DOT = "!"
"""Stands for a dot in the name of a class, which pickle would split there."""

_TEXT_MODES = ("ansi", "human", "svg")
_renamings: dict[tuple[str, int, str], Renaming] = {}


def disguised(raw_env: type[TextEnv], game: str, seed: int) -> type[TextEnv]:
    """Returns the class of an environment whose texts are renamed.

    Args:
        raw_env: the class of the game.
        game: name of the game, e.g. ``tictactoe_v0``.
        seed: seed of the new names.

    Raises:
        OptionError: if the names of the game cannot be exchanged.
    """
    known = declared(game)
    name = f"{game}?isomorph={seed}"
    if known is None and raw_env.action_examples:
        raise OptionError(
            f"environment {name!r}: {game} has no isomorphs, because its replies are free text: no renaming of words keeps"
            f" their meaning; use {game}"
        )
    if known is None and "/" not in game:
        raise OptionError(f"environment {name!r}: {game} has no isomorphs, because it declares no names; use {game}")

    @wraps(raw_env.__init__)
    def init(self: TextEnv, *args: Any, **options: Any) -> None:
        raw_env.__init__(self, *args, **options)
        if self.codec.language != "en":
            raise OptionError(f"environment {name!r}: language: expected 'en', got {self.codec.language!r}")
        self.codec = DisguisedCodec(self.codec, renaming_of(self, game, seed, repr(sorted(options.items()))))
        self._rules = {agent: self.codec.rules(agent) for agent in self.possible_agents}

    def make_drawing(self: TextEnv) -> Drawing[Any]:
        return TextDrawing(self.codec, f"isomorph={seed}")

    modes = [mode for mode in raw_env.metadata["render_modes"] if mode in _TEXT_MODES]
    members = {
        "__doc__": f"{raw_env.__doc__}\n\nThe names in its texts are exchanged.",
        "__init__": init,
        "__module__": "llmarena_envs.isomorph.classes",  # where pickle looks the class up
        "make_drawing": make_drawing,
        "metadata": {**raw_env.metadata, "render_modes": modes},
    }
    return type(name.replace(".", DOT), (raw_env,), members)


def renaming_of(env: TextEnv, game: str, seed: int, options: str) -> Renaming:
    """Returns the renaming of a game for a seed, the same for every environment with these options.

    Args:
        env: the environment, in its own names.
        game: name of the game.
        seed: seed of the new names.
        options: options of the environment.
    """
    key = (game, seed, options)
    if key not in _renamings:
        known, met = declared(game), frozenset[str]()
        if known is None:
            known, met = words_of(env, (*getattr(env, "titles", (getattr(env, "title", ""),)), game.partition("/")[2]))
        if len(_renamings) >= MAX_RENAMINGS:
            _renamings.clear()
        _renamings[key] = Renaming(known, env.possible_agents, f"{game} {seed}", met)
    return _renamings[key]
