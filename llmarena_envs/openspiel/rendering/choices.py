"""Renderings of games of bids, dice and choices at once."""

from collections.abc import Mapping

from llmarena_envs.openspiel.rendering import bids, deals, dice, matrices, messages
from llmarena_envs.openspiel.rendering.rendering import Rendering

RENDERINGS: Mapping[str, Rendering] = {
    **bids.RENDERINGS,
    **deals.RENDERINGS,
    **dice.RENDERINGS,
    **matrices.RENDERINGS,
    **messages.RENDERINGS,
}
