"""Reading of OpenSpiel's texts, and phrases of several games."""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from llmarena_envs.core.prompts import Prompts
from llmarena_envs.openspiel.game import SpielView

Turn = tuple[int, str]
"""The index of a player and the name of its move."""


@cache
def prompts(language: str) -> Prompts:
    """Returns the texts in a language."""
    return Prompts("llmarena_envs.openspiel", language)


def fields(text: str) -> dict[str, str]:
    """Returns the values of lines ``name: value`` by name."""
    return {name: value.strip() for name, value in re.findall(r"^ *([^:\n]+):(.*)$", text, re.MULTILINE)}


def bracketed(text: str) -> dict[str, str]:
    """Returns the values of ``[name: value]`` by name."""
    return {name: value.strip() for name, value in re.findall(r"\[([^:\]]+):([^\]]*)\]", text)}


def numbers(text: str) -> list[int]:
    """Returns the integers in a text."""
    return [int(number) for number in re.findall(r"-?\d+", text)]


def seat(player: int, view: SpielView, language: str = "en") -> str:
    """Returns the name of a player, marked if it is the reader."""
    name = f"player_{player}"
    return prompts(language).render("you", player=name) if player == view.player else name


def listed(items: Iterable[object], language: str = "en") -> str:
    """Returns items joined by commas, or ``none``."""
    return ", ".join(map(str, items)) or prompts(language).render("no_moves")


def turns(moves: Iterable[Turn], language: str = "en") -> str:
    """Returns moves with their players, or ``none``."""
    return listed([f"player_{player} {move}" for player, move in moves], language)


def alternating(moves: Sequence[str], players: int) -> list[Turn]:
    """Returns moves with their players; the first player begins, and all move in turn."""
    return [(number % players, move) for number, move in enumerate(moves)]


def per_player(label: str, values: Sequence[object], view: SpielView) -> str:
    """Returns a line with a value of each player."""
    return f"{label}: " + ", ".join(f"{seat(player, view)} {value}" for player, value in enumerate(values))
