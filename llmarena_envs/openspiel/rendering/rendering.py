"""How a game is shown."""

from collections.abc import Callable
from typing import NamedTuple

from llmarena_envs.core.grid import Part
from llmarena_envs.openspiel.game import SpielView

Render = Callable[[SpielView, str], tuple[Part, ...]]
"""Returns the parts of a position for the owner of a view, in a language."""


class Rendering(NamedTuple):
    """How a game is shown.

    Attributes:
        render: makes the parts of a position.
        name: returns the name of a move for players, from OpenSpiel's; different moves have different names.
        shows_moves: whether the parts hold the moves so far; otherwise the text adds them if the game has perfect information.
    """

    render: Render
    name: Callable[[str], str] = str
    shows_moves: bool = False
