"""A bidder's knowledge of finished auctions."""

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
