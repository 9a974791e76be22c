"""Policies for the sealed-bid auction; ``random`` of ``general`` bids uniformly below its valuation."""

from agents.policy import ScriptedPolicy
from llmarena_envs.bid.game import BidView, equilibrium_bid


class Truthful(ScriptedPolicy):
    """Bids one grid unit below its valuation, the highest legal bid, and so earns next to nothing."""

    def __call__(self, view: BidView) -> int:
        """Returns the highest legal bid."""
        return view.valuation - 1


class Equilibrium(ScriptedPolicy):
    """Bids v(n - 1)/n at valuation v with n bidders, rounded down to the grid: half of it against one opponent.

    This is the symmetric equilibrium of risk-neutral bidders with uniform valuations.
    """

    def __call__(self, view: BidView) -> int:
        """Returns the equilibrium bid."""
        return equilibrium_bid(view.valuation, view.n_bidders)


BASELINES = {"truthful": Truthful, "equilibrium": Equilibrium, "half": Equilibrium}
