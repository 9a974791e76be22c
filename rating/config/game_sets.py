"""Named sets of games, for ``llmarena run --game-set NAME``."""

import tomllib
from importlib import resources

from llmarena_envs.core.options import check_choice


def game_set(name: str) -> list[str]:
    """Returns the environments of a set.

    Raises:
        OptionError: if there is no such set.
    """
    sets = tomllib.loads(resources.files("rating.config").joinpath("game_sets.toml").read_text(encoding="utf-8"))
    check_choice("name", name, sets)
    return [f"{sets[name]['collection']}/{game}" for game in sets[name]["games"].split()]
