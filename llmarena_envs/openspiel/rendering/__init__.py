"""Readable positions and move names of OpenSpiel's games, made from views."""

from llmarena_envs.openspiel.rendering import boards, cards, choices
from llmarena_envs.openspiel.rendering.rendering import Rendering

RENDERINGS = {**boards.RENDERINGS, **cards.RENDERINGS, **choices.RENDERINGS}


def rendering_of(game: str) -> Rendering | None:
    """Returns the rendering of a game; ``None`` if OpenSpiel's own text is shown."""
    return RENDERINGS.get(game)
