"""Readable positions and move names of the listed games."""

from llmarena_envs.aec.rendering import boards, cards, chess, go
from llmarena_envs.aec.rendering.rendering import Rendering

RENDERINGS = {**boards.RENDERINGS, **cards.RENDERINGS, **chess.RENDERINGS, **go.RENDERINGS}
_OTHER = Rendering()


def rendering_of(module: str) -> Rendering:
    """Returns the rendering of a game: of its observation and with numbers as moves, if it is not listed."""
    return RENDERINGS.get(module, _OTHER)
