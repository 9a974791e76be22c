"""The games of TextArena that are environments, and the refused ones; known without TextArena."""

import sys
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any, NamedTuple

from llmarena_envs.textarena.sampling import Sampler


class Listed(NamedTuple):
    """A game of the list.

    Attributes:
        name: TextArena's id, e.g. ``Poker-v0``.
        players: smallest and largest number of players; the smallest one is the default.
        turns: bound on the turns of each player.
        replies: samples plausible replies.
        step: step of the number of players, e.g. 2 for two teams.
    """

    name: str
    players: tuple[int, int]
    turns: int
    replies: Sampler
    step: int = 1


def _listed(name: str, table: Mapping[str, Any]) -> Listed:
    least, most = table.get("players", (2, 2))
    sampler = Sampler(table["replies"], table.get("listed_after", ""), table.get("listed", ""))
    return Listed(name, (least, most), table["turns"], sampler, table.get("step", 1))


def _read() -> tuple[dict[str, Listed], dict[str, str]]:
    """Returns the games for this Python and the reason of each refused one."""
    file = resources.files("llmarena_envs.textarena").joinpath("games.toml")
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    games, refused = {}, dict(tables["refused"])
    for name, table in tables["games"].items():
        needed = table.get("python", "3.11")
        if sys.version_info >= tuple(map(int, needed.split("."))):
            games[name] = _listed(name, table)
        else:
            refused[name] = f"it needs Python {needed}"
    return games, refused


LISTED, REFUSED = _read()
GAMES = tuple(sorted(LISTED))
"""Names of the games, sorted."""

SIMULTANEOUS: tuple[str, ...] = ()
"""None: TextArena asks one player at a time, and hides simultaneous moves itself."""
