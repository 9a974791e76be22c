"""What a bidder does not know of an auction that is over, drawn anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from llmarena_envs.bid.game import PastRound


class Redrawn(NamedTuple):
    """A round as it may have been.

    Attributes:
        valuations: of every bidder, in grid units.
        bids: of every bidder, in grid units.
        coin: what decides among equal bids.
    """

    valuations: tuple[int, ...]
    bids: tuple[int, ...]
    coin: float


def redrawn_round(
    agents: tuple[str, ...], seat: int, known: PastRound, units: int, rng: np.random.Generator
) -> Redrawn:
    """Draws a round that gives the bidder in ``seat`` what it knows of one.

    Args:
        agents: the bidders.
        seat: who knows it.
        known: what it knows.
        units: the highest valuation.
        rng: draws valuations as they are drawn in a match, that of a winner from those above its bid, and losing bids
            uniformly from those that lose.
    """
    winner = agents.index(known.winner)
    valuations, bids = [], []
    for other in range(len(agents)):
        if other == seat:
            valuation, bid = known.valuation, known.bid
        elif other == winner:
            valuation, bid = _valuation_above(known.winning_bid, units, rng), known.winning_bid
        else:
            valuation = _valuation_above(0, units, rng)
            bid = int(rng.integers(min(valuation, known.winning_bid + 1)))
        valuations.append(valuation)
        bids.append(bid)
    tied = [other for other, bid in enumerate(bids) if bid == known.winning_bid]
    return Redrawn(tuple(valuations), tuple(bids), (tied.index(winner) + 0.5) / len(tied))


def _valuation_above(bid: int, units: int, rng: np.random.Generator) -> int:
    """Draws a valuation of those above a bid: a number of units is rounded, so the greatest comes half as often."""
    return max(bid + 1, round(rng.uniform(bid + 0.5, units)))
