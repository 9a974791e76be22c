"""The classic games of PettingZoo: their names, properties and rules, known without PettingZoo's extra ``classic``."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple


class Listed(NamedTuple):
    """A listed game.

    Attributes:
        module: its module.
        title: name for people.
        scheme: the rating scheme.
        has_chance: whether its reset or its moves draw from the seed.
        perfect_information: whether all players know everything.
        zero_sum: whether the rewards of a match add up to 0.
        public_moves: whether every player sees every move.
        masked: whether it has an action mask; otherwise every action is legal.
        vector: whether its observation is an array.
        random_opening: number of random moves before play in rated matches.
        omit: options that cannot be set.
        bounds: lowest and highest value of options.
    """

    module: str
    title: str
    scheme: str = "duels"
    has_chance: bool = False
    perfect_information: bool = False
    zero_sum: bool = False
    public_moves: bool = False
    masked: bool = True
    vector: bool = True
    random_opening: int = 0
    omit: tuple[str, ...] = ()
    bounds: Mapping[str, tuple[int, int]] = {}


_FOLDER = resources.files("llmarena_envs.aec")
LISTED = {
    module: Listed(module, **table)
    for module, table in tomllib.loads(_FOLDER.joinpath("games.toml").read_text(encoding="utf-8")).items()
}
GAMES = tuple(sorted(LISTED))
"""Modules of the listed games, sorted."""

SIMULTANEOUS: tuple[str, ...] = ()
"""No agents act at once: PettingZoo's AEC environments select one agent at a time."""


@cache
def rules_of(module: str) -> str:
    """Returns the rules of a listed game, a template."""
    name = module.rpartition(".")[2]
    text: str = tomllib.loads(_FOLDER.joinpath("rules", f"{name}.toml").read_text(encoding="utf-8"))["rules"]
    return text.strip()
