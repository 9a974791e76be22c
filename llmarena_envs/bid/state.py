"""What a bidder knows: records of a position and of finished rounds."""

from collections.abc import Sequence
from typing import NamedTuple


class PastRound(NamedTuple):
    """One bidder's view of a finished round.

    Attributes:
        valuation: the bidder's own valuation, in grid units.
        bid: the bidder's own bid, in grid units.
        winner: the winner.
        winning_bid: bid and price of the winner, in grid units. Losing bids stay secret.
    """

    valuation: int
    bid: int
    winner: str
    winning_bid: int


class BidView(NamedTuple):
    """A bidder's view. Amounts are whole grid units of ``step`` cents.

    Attributes:
        agent: the bidder.
        to_move: whether a bid is due.
        legal: the legal bids if one is due: from 0 to below the valuation.
        n_bidders: number of bidders.
        step: cents of one grid unit.
        rounds: number of auctions in the match.
        round: number of the current auction, from 1; of the last one when the match is over.
        valuation: the bidder's own valuation in the current auction.
        history: the finished auctions.
    """

    agent: str
    to_move: bool
    legal: Sequence[int]
    n_bidders: int
    step: int
    rounds: int
    round: int
    valuation: int
    history: tuple[PastRound, ...]
