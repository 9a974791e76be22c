"""A single flop decision: a static state of hold'em (LLMArena, arXiv 2402.16499, Figure 4)."""

from typing import Any

import numpy as np

from llmarena_envs.core.options import OptionError, check_choice
from llmarena_envs.holdem.betting import Action
from llmarena_envs.holdem.game import Holdem

OPEN = "open"
FACING_BET = "facing_bet"
DECIDER = 0
"""The seat that decides."""

_FLOP = 1


class FlopDecision(Holdem):
    """A hand of two players that ends with one decision of ``player_0`` on the flop, without payoffs.

    The earlier play is fixed and independent of the cards: the small blind calls, the big blind checks; on the flop ``player_1``
    checks or bets half the pot, and ``player_0`` checks first if it is first to act.

    Args:
        decision: ``open`` for no bet to ``player_0``, ``facing_bet`` for a bet of half the pot.
        **options: options of ``Holdem``, with two players and one hand.
    """

    decision: str

    def __init__(self, decision: str, **options: Any) -> None:
        check_choice("decision", decision, (OPEN, FACING_BET))
        super().__init__(**options)
        if len(self.agents) != 2 or self.hands != 1:
            raise OptionError(
                "decision: expected players=2 and hands=1 beside it, because it is one of two players in one hand,"
                f" got players={len(self.agents)}, hands={self.hands}"
            )
        if decision == FACING_BET and self.stack <= 2 * self.big_blind:
            raise OptionError(
                f"stack: expected more than {2 * self.big_blind} chips with decision={FACING_BET!r}, for a call before the flop"
                f" and a bet of half the pot, got {self.stack}"
            )
        self.decision = decision
        self.max_turns = 1

    def reset(self, rng: np.random.Generator) -> None:
        """Deals, and plays up to the decision."""
        super().reset(rng)
        while (action := self._fixed_action()) is not None:
            super().apply((action,))

    def apply(self, actions: tuple[int, ...]) -> None:
        """Records the decision, ends the match and returns all chips."""
        self._record(actions[0])
        self._end_match((self.stack,) * len(self.agents))

    def _fixed_action(self) -> int | None:
        """Returns the fixed action of the player to act, ``None`` at the decision."""
        if self.street == _FLOP:
            awaits_bet = self.decision == FACING_BET and not self.betting.level
            if self.seat == DECIDER and not awaits_bet:
                return None
            if self.seat != DECIDER and awaits_bet:
                return int(Action.RAISE_HALF_POT)
        return int(Action.CHECK_CALL)
