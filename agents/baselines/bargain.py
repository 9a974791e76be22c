"""Bargaining policies. They send no messages."""

from agents.policy import ScriptedPolicy
from llmarena_envs.bargain.game import BargainView, Deal, Offer, rest_of
from llmarena_envs.bargain.grammar import write_action
from llmarena_envs.bargain.scenarios import TOTAL_VALUE, Triple, plans, worth
from llmarena_envs.core.options import OptionError

HALF = TOTAL_VALUE // 2
"""Half of the total value."""


def offered_value(view: BargainView) -> int:
    """Returns the value of the open offer to the reader of the view, -1 without an offer."""
    if not view.offers:
        return -1
    return worth(rest_of(view.counts, view.offers[-1].counts), view.values)


class BargainPlayer(ScriptedPolicy):
    """Accepts or makes an offer, in the game's grammar."""

    def __call__(self, view: BargainView) -> str:
        """Returns a reply."""
        action = Deal() if view.offers and self.accepts(view) else Offer(self.plan(view))
        return write_action(view.agent, action)

    def accepts(self, view: BargainView) -> bool:
        """Returns whether to accept the open offer."""
        raise NotImplementedError

    def plan(self, view: BargainView) -> Triple:
        """Returns the items to demand."""
        raise NotImplementedError


class Random(BargainPlayer):
    """Demands random items, and accepts any offer with a fixed probability.

    Args:
        accept: probability of accepting, 0 to 1.
    """

    def __init__(self, accept: float = 0.1) -> None:
        if not 0 <= accept <= 1:
            raise OptionError(f"accept: expected a probability from 0 to 1, got {accept!r}")
        self.accept = accept

    def accepts(self, view: BargainView) -> bool:
        """Draws whether to accept."""
        return bool(self.rng.random() < self.accept)

    def plan(self, view: BargainView) -> Triple:
        """Draws a demand."""
        return self.choose(plans(view.counts))


class Fair(BargainPlayer):
    """Demands half of the value, as closely as the items allow, and accepts half or more."""

    def accepts(self, view: BargainView) -> bool:
        """Accepts half of the value or more."""
        return offered_value(view) >= HALF

    def plan(self, view: BargainView) -> Triple:
        """Draws one of the demands closest to half of the own value."""
        distances = {plan: abs(worth(plan, view.values) - HALF) for plan in plans(view.counts)}
        least = min(distances.values())
        return self.choose([plan for plan in distances if distances[plan] == least])


class Concession(BargainPlayer):
    """Demands everything at first, one point less per round down to half, and accepts at least its next demand."""

    def accepts(self, view: BargainView) -> bool:
        """Accepts an offer worth at least the current demand."""
        return offered_value(view) >= self.demand(view)

    def plan(self, view: BargainView) -> Triple:
        """Draws one of the plans that meet the demand at the least own value, then with the fewest items."""
        costs = {
            plan: (worth(plan, view.values), sum(plan))
            for plan in plans(view.counts)
            if worth(plan, view.values) >= self.demand(view)
        }
        least = min(costs.values())
        return self.choose([plan for plan in costs if costs[plan] == least])

    @staticmethod
    def demand(view: BargainView) -> int:
        """Returns the demanded own value in the current round."""
        return max(HALF, TOTAL_VALUE + 1 - view.round)


BASELINES = {"random": Random, "fair": Fair, "concession": Concession}
