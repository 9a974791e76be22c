"""The rules of the first-price sealed-bid auction."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

import numpy as np

from llmarena_envs.bid.resampling import redrawn_round
from llmarena_envs.bid.state import PastRound
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import OptionError, check_int

CENTS = 100
"""Cents in a dollar."""

MAX_UNITS = 10_000
"""Maximum number of steps from 0 to the highest valuation."""


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


def to_cents(name: str, amount: object) -> int:
    """Converts a positive amount of dollars to cents, exactly.

    Raises:
        OptionError: if ``amount`` is not a positive number or not a whole number of cents.
    """
    try:
        cents = Decimal(str(amount)) * CENTS
        if isinstance(amount, bool) or cents <= 0 or cents != int(cents):
            raise ValueError
    except (InvalidOperation, ValueError, OverflowError):
        raise OptionError(
            f"{name}: expected a positive amount with at most two decimals, such as 0.01, got {amount!r}"
        ) from None
    return int(cents)


def write_cents(cents: int) -> str:
    """Returns an amount in dollars, such as ``$1.08``."""
    return f"${cents // CENTS}.{cents % CENTS:02d}"


class SealedBid(Game[int, BidView]):
    """A match of one or more first-price sealed-bid auctions; an action is a bid in grid units.

    Args:
        n_bidders: number of bidders, 2 to 20.
        v_max: highest valuation in dollars.
        grid: step between two bids in dollars, a whole number of cents that divides ``v_max``.
        rounds: number of auctions, 1 to 100, each with fresh valuations.
        values: valuations in dollars, a list for each round with one amount per bidder; drawn if ``None``.

    Attributes:
        step: cents of one grid unit.
        units: highest valuation in grid units.
        rounds: number of auctions.
        valuations: valuations by round and bidder, in grid units.
        histories: the finished auctions, by bidder.
    """

    def __init__(
        self,
        n_bidders: int = 2,
        v_max: float = 10.0,
        grid: float = 0.01,
        rounds: int = 1,
        values: Sequence[Sequence[float]] | None = None,
    ) -> None:
        check_int("n_bidders", n_bidders, 2, 20)
        check_int("rounds", rounds, 1, 100)
        self.step = to_cents("grid", grid)
        self.units, rest = divmod(to_cents("v_max", v_max), self.step)
        if rest or not 2 <= self.units <= MAX_UNITS:
            raise OptionError(f"v_max: expected 2 to {MAX_UNITS} times the grid of {grid!r}, got {v_max!r}")
        self.agents = tuple(f"player_{seat}" for seat in range(n_bidders))
        self.num_actions = self.units
        self.max_turns = n_bidders * rounds
        self.rounds = rounds
        self._fixed = None if values is None else self._check_values(values)

    def _check_values(self, values: Sequence[Sequence[float]]) -> tuple[tuple[int, ...], ...]:
        expected = f"a list for each of {self.rounds} rounds, each with {len(self.agents)} valuations"
        nested = isinstance(values, list | tuple) and all(isinstance(row, list | tuple) for row in values)
        if not nested or [len(row) for row in values] != [len(self.agents)] * self.rounds:
            raise OptionError(f"values: expected {expected}, got {values!r}")
        cents = tuple(tuple(to_cents("values", amount) for amount in row) for row in values)
        if any(amount % self.step or amount > self.units * self.step for row in cents for amount in row):
            raise OptionError(
                f"values: expected steps of {write_cents(self.step)} up to {write_cents(self.units * self.step)}, got {values!r}"
            )
        return tuple(tuple(amount // self.step for amount in row) for row in cents)

    def reset(self, rng: np.random.Generator) -> None:
        """Draws the valuations and a tie-breaking coin for each round."""
        self.valuations = self._fixed or tuple([self._draw_valuations(rng) for _ in range(self.rounds)])
        self._coins = tuple(rng.random(self.rounds).tolist())
        self._begin()

    def _begin(self) -> None:
        self.histories: tuple[tuple[PastRound, ...], ...] = ((),) * len(self.agents)
        self._round = 1
        self.to_move = self.agents
        self.rewards = (0.0,) * len(self.agents)

    def _draw_valuations(self, rng: np.random.Generator) -> tuple[int, ...]:
        valuations = []
        for _ in self.agents:
            units = 0
            while units == 0:
                units = round(rng.random() * self.units)
            valuations.append(units)
        return tuple(valuations)

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        """Returns why a bid is illegal."""
        if action < 0:
            return Reason("below_zero")
        valuation = self.valuations[self._round - 1][self.agents.index(agent)]
        if action >= valuation:
            return Reason("too_high", {"valuation": write_cents(valuation * self.step)})
        return None

    def apply(self, actions: tuple[int, ...]) -> None:
        """Awards the item to the highest bid and pays the winner valuation minus bid."""
        valuations = self.valuations[self._round - 1]
        highest = max(actions)
        tied = [seat for seat, bid in enumerate(actions) if bid == highest]
        winner = tied[int(self._coins[self._round - 1] * len(tied))]
        gain = (valuations[winner] - highest) * self.step / CENTS
        self.rewards = tuple([gain if seat == winner else 0.0 for seat in range(len(actions))])
        name = self.agents[winner]
        self.histories = tuple(
            [
                (*history, PastRound(valuation, bid, name, highest))
                for history, valuation, bid in zip(self.histories, valuations, actions, strict=True)
            ]
        )
        if self._round == self.rounds:
            self.to_move = ()
        else:
            self._round += 1

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Costs an offender 1; the others gain nothing, as an auction is not zero-sum."""
        return tuple(-1.0 if agent in offenders else 0.0 for agent in self.agents)

    def default_action(self, agent: str) -> int:
        """Returns the bid of $0.00."""
        return 0

    def view(self, agent: str) -> BidView:
        """Returns the view of ``agent``: own valuations and bids, past winners and prices."""
        seat = self.agents.index(agent)
        number = self._round
        valuation = self.valuations[number - 1][seat]
        to_move = bool(self.to_move)
        legal = range(valuation) if to_move else ()
        history = self.histories[seat]
        return BidView(agent, to_move, legal, len(self.agents), self.step, self.rounds, number, valuation, history)

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws the other bidders' valuations and losing bids, and the valuations and coins of future rounds.

        Valuations are drawn as in ``reset``, a winner's above its bid; a losing bid is drawn uniformly from the losing amounts.
        Fixed valuations do not restrict the redraw.
        """
        seat = self.agents.index(agent)
        past, to_move = self.histories[seat], self.to_move
        fresh = [self._draw_valuations(rng) for _ in range(len(past), self.rounds)]
        if fresh:
            fresh[0] = (*fresh[0][:seat], self.valuations[len(past)][seat], *fresh[0][seat + 1 :])
        over = [redrawn_round(self.agents, seat, known, self.units, rng) for known in past]
        self.valuations = (*[valuations for valuations, _, _ in over], *fresh)
        self._coins = (*[coin for _, _, coin in over], *rng.random(len(fresh)).tolist())
        self._begin()
        for _, bids, _ in over:
            self.apply(bids)
        self.to_move = to_move

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns means over finished rounds: ``score``, and ``bid`` and ``valuation`` in dollars.

        The score of a bid b at valuation v is (b - v/2) / (v/2), from -1 to below +1 (LLMArena, Figure 3): 0 is the
        equilibrium of two bidders. All three are 0 before the end of the first round; no valuation is 0.
        """
        history = self.histories[self.agents.index(agent)]
        if not history:
            return {"score": 0.0, "bid": 0.0, "valuation": 0.0}
        scores, bids, valuations = 0.0, 0, 0
        for valuation, bid, _, _ in history:
            scores += (2 * bid - valuation) / valuation
            bids += bid
            valuations += valuation
        count = len(history)
        return {
            "score": scores / count,
            "bid": bids * self.step / (CENTS * count),
            "valuation": valuations * self.step / (CENTS * count),
        }


def equilibrium_bid(valuation: int, n_bidders: int) -> int:
    """Returns the symmetric equilibrium bid v(n - 1)/n of risk-neutral bidders with uniform valuations, in whole units."""
    return valuation * (n_bidders - 1) // n_bidders
