"""Players of bargaining. They send no messages."""

from agents.policy import ScriptedPolicy
from llmarena_envs.bargain.game import BargainView, Deal, Offer, rest_of
from llmarena_envs.bargain.grammar import write_action
from llmarena_envs.bargain.scenarios import TOTAL_VALUE, Triple, plans, worth
from llmarena_envs.core.options import OptionError

HALF = TOTAL_VALUE // 2
"""The fair share of the value of all items."""


def offered_value(view: BargainView) -> int:
    """Returns what the offer that can be accepted is worth to the reader of the view, -1 if there is none."""
    if not view.offers:
        return -1
    return worth(rest_of(view.counts, view.offers[-1].counts), view.values)


class BargainPlayer(ScriptedPolicy):
    """Accepts or makes an offer, written in the published grammar."""

    def __call__(self, view: BargainView) -> str:
        """Returns a reply."""
        action = Deal() if view.offers and self.accepts(view) else Offer(self.plan(view))
        return write_action(view.agent, action)

    def accepts(self, view: BargainView) -> bool:
        """Says whether the standing offer is good enough."""
        raise NotImplementedError

    def plan(self, view: BargainView) -> Triple:
        """Returns the items to ask for."""
        raise NotImplementedError


class Random(BargainPlayer):
    """Asks for a random plan, and accepts with a fixed probability whatever stands.

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
        """Draws a plan."""
        return self.choose(plans(view.counts))


class Fair(BargainPlayer):
    """Asks for half of the value, as nearly as the items allow, and accepts no less than half."""

    def accepts(self, view: BargainView) -> bool:
        """Accepts half of the value or more."""
        return offered_value(view) >= HALF

    def plan(self, view: BargainView) -> Triple:
        """Draws one of the plans whose own value is closest to half."""
        distances = {plan: abs(worth(plan, view.values) - HALF) for plan in plans(view.counts)}
        least = min(distances.values())
        return self.choose([plan for plan in distances if distances[plan] == least])


class Concession(BargainPlayer):
    """Demands everything at first, one point less in every round down to half, and accepts what it would demand next."""

    def accepts(self, view: BargainView) -> bool:
        """Accepts what the offer it would make now would give it."""
        return offered_value(view) >= self.demand(view)

    def plan(self, view: BargainView) -> Triple:
        """Draws one of the plans that meet the demand with the least own value, and among them with the fewest items."""
        costs = {
            plan: (worth(plan, view.values), sum(plan))
            for plan in plans(view.counts)
            if worth(plan, view.values) >= self.demand(view)
        }
        least = min(costs.values())
        return self.choose([plan for plan in costs if costs[plan] == least])

    @staticmethod
    def demand(view: BargainView) -> int:
        """Returns the own value demanded in the present round."""
        return max(HALF, TOTAL_VALUE + 1 - view.round)


BASELINES = {"random": Random, "fair": Fair, "concession": Concession}
