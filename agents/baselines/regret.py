"""Regret of a move: the reward it gives up against solved play."""

from abc import ABC, abstractmethod
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.baselines.solved import Solved, SolvedConnectFour, SolvedTicTacToe
from llmarena_envs.bid.game import CENTS, BidView, SealedBid, equilibrium_bid
from llmarena_envs.connect_four.game import ConnectFour
from llmarena_envs.core.board import BoardView
from llmarena_envs.core.game import Game
from llmarena_envs.tictactoe.game import TicTacToe

DEPTH = 8
"""Plies that connect four is searched."""


class Regret(ABC):
    """Regret in one game.

    Attributes:
        values: description of the solved values.
        tolerance: largest regret that does not count as a mistake.
    """

    values: str
    tolerance: float

    @abstractmethod
    def __call__(self, view: Any, action: int) -> float | None:
        """Returns the regret of a legal action, or ``None`` where the game is not solved."""


def regret_of(game: Game[Any, Any]) -> Regret | None:
    """Returns the regret in a game, or ``None`` for a game without solved values."""
    match game:
        case TicTacToe():
            return BoardRegret(SolvedTicTacToe(), "solved to the end")
        case ConnectFour():
            return BoardRegret(
                SolvedConnectFour(DEPTH), f"solved where a result is proved within {DEPTH} plies, mostly late"
            )
        case SealedBid():
            return BidRegret(game.units, game.step)
    return None


class BoardRegret(Regret):
    """Regret in a board game: the value of the position before the move less the value after it.

    A win is worth 1, a draw 0, and a loss -1, so a regret is 0, 1 or 2.

    Args:
        solved: the solved game.
        values: as the attribute.
    """

    def __init__(self, solved: Solved, values: str) -> None:
        self._solved = solved
        self.values, self.tolerance = values, 0.0

    def __call__(self, view: BoardView, action: int) -> float | None:
        """Returns the regret, or ``None`` if one of the values is not proved."""
        change = self._solved.change(view.board, view.mark, action)
        return None if change.before is None or change.after is None else float(change.before - change.after)


class BidRegret(Regret):
    """Regret in the sealed-bid auction, in dollars: the expected gain of the best bid minus the gain of the bid.

    Expectations are over opponents with drawn valuations who bid ``equilibrium_bid``.

    Args:
        units: highest valuation in grid units.
        step: cents of one grid unit, the tolerance: the equilibrium is rounded to the grid.
    """

    values = "in dollars, against opponents in equilibrium"

    def __init__(self, units: int, step: int) -> None:
        self._units, self._dollars = units, step / CENTS
        self.tolerance = self._dollars
        self._chances = cache(self._chances_against)

    def __call__(self, view: BidView, action: int) -> float:
        """Returns the regret of a bid."""
        bids = np.arange(view.valuation)
        gains = (view.valuation - bids) * self._chances(view.n_bidders)[: view.valuation]
        return float(gains.max() - gains[action]) * self._dollars

    def _chances_against(self, n_bidders: int) -> NDArray[np.float64]:
        """Returns the probability that a bid wins, by bid; equal highest bids win equally often."""
        weights = np.ones(self._units)
        weights[-1] = 0.5  # valuations are rounded, so the highest is drawn half as often
        bids = [equilibrium_bid(valuation, n_bidders) for valuation in range(1, self._units + 1)]
        equal = np.bincount(bids, weights / weights.sum(), minlength=self._units)
        below = np.cumsum(equal) - equal
        # The mean of 1 / (1 + ties) over the binomial number of ties; without ties, the chance that all others are below.
        tied = (np.power(below + equal, n_bidders) - np.power(below, n_bidders)) / np.where(
            equal > 0, n_bidders * equal, 1
        )
        return np.where(equal > 0, tied, np.power(below, n_bidders - 1))
