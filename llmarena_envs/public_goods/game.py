"""The rules of the public goods game."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import OptionError, check_choice, check_int
from llmarena_envs.public_goods.resampling import permuted, redistributed

PER_ROUND, INITIAL = "per_round", "initial"
ENDOWMENT_MODES = (PER_ROUND, INITIAL)

DECIMALS = 4
"""Maximum number of decimals of an amount of coins."""

MAX_STEPS = 10_000
"""Maximum investment in steps."""

MAX_ALPHA = 1000
MAX_COINS = 1_000_000
_LEAST = Decimal("1e-9")
_TRIES = 20


class PastRound(NamedTuple):
    """One player's view of a finished round.

    Attributes:
        investment: the player's own investment, in steps.
        total: sum of all investments, in steps; the income implies it.
        income: the player's share of the pool, in coins.
        investments: all investments in steps, the largest first; empty in mode 1, where they are secret.
    """

    investment: int
    total: int
    income: float
    investments: tuple[int, ...]


class PublicGoodsView(NamedTuple):
    """A player's view. Investments are whole numbers of steps.

    Attributes:
        agent: the player.
        to_move: whether an investment is due.
        legal: the legal investments if one is due.
        n_players: number of players.
        rounds: number of rounds in the match.
        round: number of the current round, from 1; of the last one when the match is over.
        highest: the player's largest legal investment of the current round.
        coins: the player's coins from finished rounds, plus the endowment if given only once.
        history: the finished rounds.
    """

    agent: str
    to_move: bool
    legal: Sequence[int]
    n_players: int
    rounds: int
    round: int
    highest: int
    coins: float
    history: tuple[PastRound, ...]


class PublicGoods(Game[int, PublicGoodsView]):
    """Rounds of investments in a common pool; an action is an investment in steps.

    All arithmetic is exact: wealth is counted in steps and in shares of the pool, and converted to a ``float`` of coins
    only for output.

    Args:
        n_players: number of players, 2 to 20.
        rounds: number of rounds, 1 to 100.
        endowment: coins given to each player.
        alpha: multiplier of the pool, above 0 and at most 1000.
        mode: information after a round: 1 for the own income, 2 for the list of all investments.
        coin_step: step between two investments, in coins; must divide ``endowment``.
        endowment_mode: ``per_round`` to give the endowment in every round, ``initial`` to give it once.

    Attributes:
        rounds: number of rounds.
        alpha: multiplier of the pool.
        mode: information after a round.
        step: coins of one step.
        endowment: endowment of each player, in steps.
        greatest: upper bound of legal investments, in steps.
        gives_each_round: whether the endowment is given in every round.
        investments: the investments of every finished round, in steps, in the order of ``agents``.
    """

    has_chance = False

    def __init__(
        self,
        n_players: int = 4,
        rounds: int = 5,
        endowment: float = 10,
        alpha: float = 1.2,
        mode: int = 1,
        coin_step: float = 1,
        endowment_mode: str = PER_ROUND,
    ) -> None:
        check_int("n_players", n_players, 2, 20)
        check_int("rounds", rounds, 1, 100)
        check_int("mode", mode, 1, 2)
        check_choice("endowment_mode", endowment_mode, ENDOWMENT_MODES)
        self.alpha = _positive("alpha", alpha, MAX_ALPHA)
        self.step = _coins("coin_step", coin_step)
        steps = _coins("endowment", endowment) / self.step
        if steps.denominator > 1 or steps > MAX_STEPS:
            raise OptionError(
                f"endowment: expected 1 to {MAX_STEPS} times the coin_step of {coin_step!r}, got {endowment!r}"
            )
        self.agents = tuple(f"player_{seat}" for seat in range(n_players))
        self.rounds = rounds
        self.mode = mode
        self.endowment = int(steps)
        self.gives_each_round = endowment_mode == PER_ROUND
        self.greatest = self._greatest()
        self.num_actions = self.greatest + 1
        self.max_turns = n_players * rounds
        self.perfect_information = n_players == 2  # the income implies the other player's investment
        # A step is split into parts small enough to share the pool without a remainder; a step in the pool pays each
        # player ``_pays`` parts.
        self._parts = n_players * self.alpha.denominator
        self._pays = self.alpha.numerator
        self._coins_numerator, self._coins_denominator = self.step.numerator, self.step.denominator * self._parts

    def _greatest(self) -> int:
        if self.gives_each_round:
            return self.endowment
        greatest = int(len(self.agents) * self.endowment * max(self.alpha, Fraction(1)) ** self.rounds)
        if greatest > MAX_STEPS:
            raise OptionError(
                f"endowment_mode: expected stocks to grow to n_players * endowment * alpha ** rounds, at most {MAX_STEPS} "
                "steps, under 'initial', got more; take fewer rounds, a smaller alpha or a larger coin_step"
            )
        return greatest

    def is_dilemma(self) -> bool:
        """Returns whether 1 < alpha < n: investing pays for the group but not for the investor."""
        return 1 < self.alpha < len(self.agents)

    def equilibrium_payoff(self) -> float | None:
        """Returns the payoff without any investments, the equilibrium for alpha < n, otherwise ``None``."""
        if self.alpha >= len(self.agents):
            return None
        return float(self.endowment * self.step * (self.rounds if self.gives_each_round else 1))

    def most_coins(self) -> float:
        """Returns an upper bound on the coins of all players: all endowments, invested as early as possible if profitable."""
        growth = max(self.alpha, Fraction(1))
        factor = self.rounds * growth if self.gives_each_round else growth**self.rounds
        return float(len(self.agents) * self.endowment * self.step * factor)

    def reset(self, rng: np.random.Generator) -> None:
        """Begins the first round; nothing is drawn."""
        self._begin()

    def _begin(self) -> None:
        players = len(self.agents)
        self.investments: tuple[tuple[int, ...], ...] = ()
        self._histories: tuple[tuple[PastRound, ...], ...] = ((),) * players
        self._invested = (0,) * players
        self._pooled = 0
        self.to_move = self.agents
        self.rewards = (0.0,) * players

    def _in_coins(self, steps: int, pooled: int) -> float:
        """Returns own steps plus a share of a pool in coins, rounded once."""
        return (steps * self._parts + pooled * self._pays) * self._coins_numerator / self._coins_denominator

    def _given(self) -> int:
        """Returns the total endowment of each player for finished rounds, or the single one, in steps."""
        return self.endowment * (len(self.investments) if self.gives_each_round else 1)

    def _highest(self, seat: int) -> int:
        """Returns the largest investment of the current round: the new coins, or the owned whole steps."""
        if self.gives_each_round:
            return self.endowment
        return self.endowment - self._invested[seat] + self._pooled * self._pays // self._parts

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        """Returns why an investment is illegal."""
        if action < 0:
            return Reason("below_zero")
        highest = self._highest(self.agents.index(agent))
        if action > highest:
            return Reason("too_high", {"highest": shown(highest * self.step)})
        return None

    def apply(self, actions: tuple[int, ...]) -> None:
        """Multiplies the pool, shares it equally and pays out the round."""
        total = sum(actions)
        income = self._in_coins(0, total)
        told = tuple(sorted(actions, reverse=True)) if self.mode == 2 else ()
        given = self.endowment if self.gives_each_round or not self.investments else 0
        self.rewards = tuple([self._in_coins(given - action, total) for action in actions])
        self.investments += (actions,)
        self._invested = tuple([sum(pair) for pair in zip(self._invested, actions, strict=True)])
        self._pooled += total
        self._histories = tuple(
            [
                (*history, PastRound(action, total, income, told))
                for history, action in zip(self._histories, actions, strict=True)
            ]
        )
        if len(self.investments) == self.rounds:
            self.to_move = ()

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Costs an offender 1; the others gain nothing, as the game is not zero-sum."""
        return tuple(-1.0 if agent in offenders else 0.0 for agent in self.agents)

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws the others' investments: in mode 1, the amounts for the known sum; in mode 2, the investors.

        All affordable investments of a round are about equally likely. If players keep their coins and the redrawn investments
        are not affordable in all rounds, exchanges the others' seats instead.
        """
        seat, rounds, to_move = self.agents.index(agent), self.investments, self.to_move
        if not any(self._redraw(rounds, seat, rng) for _ in range(_TRIES)):
            order = [other for other in rng.permutation(len(self.agents)).tolist() if other != seat]
            order.insert(seat, seat)
            self._begin()
            for investments in rounds:
                self.apply(tuple([investments[other] for other in order]))
        self.to_move = to_move

    def _redraw(self, rounds: tuple[tuple[int, ...], ...], seat: int, rng: np.random.Generator) -> bool:
        """Replays the rounds with other investments; returns whether it succeeded, as it can fail in mode 2."""
        self._begin()
        for investments in rounds:
            highest = [self._highest(other) for other in range(len(self.agents))]
            redrawn = (permuted if self.mode == 2 else redistributed)(investments, highest, seat, rng)
            if redrawn is None:
                return False
            self.apply(redrawn)
        return True

    def coins(self, agent: str) -> float:
        """Returns the coins of ``agent``: uninvested endowment and pool shares."""
        return self._in_coins(self._given() - self._invested[self.agents.index(agent)], self._pooled)

    def view(self, agent: str) -> PublicGoodsView:
        """Returns the view of ``agent``: own investments and incomes, and in mode 2 the sorted list of all investments."""
        seat = self.agents.index(agent)
        to_move = bool(self.to_move)
        highest = self._highest(seat)
        return PublicGoodsView(
            agent,
            to_move,
            range(highest + 1) if to_move else (),
            len(self.agents),
            self.rounds,
            min(len(self.investments) + 1, self.rounds),
            highest,
            self.coins(agent),
            self._histories[seat],
        )

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns the means of ``investment`` and ``income`` over finished rounds, in coins; 0 before the first."""
        count = len(self.investments)
        if not count:
            return {"investment": 0.0, "income": 0.0}
        invested = self._invested[self.agents.index(agent)]
        return {
            "investment": self._in_coins(invested, 0) / count,
            "income": self._in_coins(0, self._pooled) / count,
        }


def shown(amount: float | Fraction) -> int | float:
    """Formats an amount for players: a whole number if possible, else rounded to four decimals."""
    rounded = round(float(amount), DECIMALS)
    return int(rounded) if rounded.is_integer() else rounded


def _positive(name: str, value: object, most: int) -> Fraction:
    try:
        number = Decimal(str(value))
        if isinstance(value, bool) or not _LEAST <= number <= most:
            raise ValueError
    except (InvalidOperation, ValueError):
        raise OptionError(f"{name}: expected a number above 0 and at most {most}, got {value!r}") from None
    return Fraction(number)


def _coins(name: str, value: object) -> Fraction:
    coins = _positive(name, value, MAX_COINS)
    if (coins * 10**DECIMALS).denominator > 1:
        raise OptionError(f"{name}: expected a positive amount with at most {DECIMALS} decimals, got {value!r}")
    return coins
