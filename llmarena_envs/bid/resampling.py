"""Redraws a bidder's unknowns of a finished auction."""

from typing import NamedTuple

import numpy as np

from llmarena_envs.bid.state import PastRound


class Redrawn(NamedTuple):
    """A redrawn round.

    Attributes:
        valuations: valuations of all bidders, in grid units.
        bids: bids of all bidders, in grid units.
        coin: the tie-breaking coin.
    """

    valuations: tuple[int, ...]
    bids: tuple[int, ...]
    coin: float


def redrawn_round(
    agents: tuple[str, ...], seat: int, known: PastRound, units: int, rng: np.random.Generator
) -> Redrawn:
    """Draws a round consistent with the knowledge of the bidder in ``seat``.

    Args:
        agents: the bidders.
        seat: the seat of the bidder.
        known: the bidder's view of the round.
        units: the highest valuation.
        rng: draws valuations as in a match, a winner's above its bid, and losing bids
            uniformly from the losing amounts.
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
    """Draws a valuation above a bid; rounding makes the highest half as likely."""
    return max(bid + 1, round(rng.uniform(bid + 0.5, units)))
