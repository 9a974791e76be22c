"""Renderings of card games."""

from collections.abc import Mapping

from llmarena_envs.openspiel.rendering import auctions, hints, melds, poker, tarok, tricks
from llmarena_envs.openspiel.rendering.rendering import Rendering

RENDERINGS: Mapping[str, Rendering] = {
    **auctions.RENDERINGS,
    **hints.RENDERINGS,
    **melds.RENDERINGS,
    **poker.RENDERINGS,
    **tarok.RENDERINGS,
    **tricks.RENDERINGS,
}
