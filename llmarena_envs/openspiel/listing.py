"""The games of OpenSpiel that are environments: their names, defaults, rules and the refused ones, known without OpenSpiel."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple


class Listed(NamedTuple):
    """A game of the list.

    Attributes:
        name: OpenSpiel's short name.
        parameters: parameters that differ from OpenSpiel's defaults.
        load: OpenSpiel's name to load, if it is not ``name``.
        random_opening: number of random moves before play in rated matches.
        seed_parameter: the parameter that seeds the game's own generator, if it has one.
        resamples: whether OpenSpiel redraws hidden information.
        simultaneous: whether the players act at once.
    """

    name: str
    parameters: Mapping[str, Any] = {}
    load: str = ""
    random_opening: int = 0
    seed_parameter: str = ""
    resamples: bool = True
    simultaneous: bool = False


class Rules(NamedTuple):
    """The texts of a game.

    Attributes:
        title: name of the game by language.
        texts: rules by language; every game with rules has English ones.
        position: templates of the words in positions by language, if the game is rendered with some.
    """

    title: Mapping[str, str]
    texts: Mapping[str, str]
    position: Mapping[str, Mapping[str, str]] = {}


_FOLDER = resources.files("llmarena_envs.openspiel")


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(_FOLDER.joinpath("games.toml").read_text(encoding="utf-8"))


LISTED = {name: Listed(name, **table) for name, table in _tables()["games"].items()}
GAMES = tuple(sorted(LISTED))
"""Names of the games, sorted."""

SIMULTANEOUS = tuple(name for name in GAMES if LISTED[name].simultaneous)
REFUSED: Mapping[str, str] = _tables()["refused"]
"""Games that are not supported, each with the reason."""


@cache
def rules_of(name: str) -> Rules | None:
    """Returns the texts of a game, or ``None`` if it has none."""
    file = _FOLDER.joinpath("rules", f"{name}.toml")
    if not file.is_file():
        return None
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    return Rules(table["title"], table["rules"], table.get("position", {}))
