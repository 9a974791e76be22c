"""Renderings of board games."""

from collections.abc import Mapping

from llmarena_envs.openspiel.rendering.boards import chess, counts, pieces, stones, walls
from llmarena_envs.openspiel.rendering.rendering import Rendering

RENDERINGS: Mapping[str, Rendering] = {
    **chess.RENDERINGS,
    **counts.RENDERINGS,
    **pieces.RENDERINGS,
    **stones.RENDERINGS,
    **walls.RENDERINGS,
}
