"""Policies for the public goods game; ``random`` of ``general`` invests uniformly from nothing to everything.

Source: DeepEval (arXiv 2309.04369), section 3.7.1, for the game; conditional co-operation as in Fischbacher, Gächter and Fehr,
"Are people conditionally cooperative?", Economics Letters 71 (2001).
"""

from agents.policy import ScriptedPolicy
from llmarena_envs.core.options import check_int
from llmarena_envs.public_goods.game import PublicGoodsView


class FreeRider(ScriptedPolicy):
    """Invests nothing, which maximises its income in a single round for any play of the others, if alpha < n."""

    def __call__(self, view: PublicGoodsView) -> int:
        """Returns 0."""
        return 0


class FullContributor(ScriptedPolicy):
    """Invests everything, which maximises the income of the group."""

    def __call__(self, view: PublicGoodsView) -> int:
        """Returns the largest investment."""
        return view.highest


class ConditionalCooperator(ScriptedPolicy):
    """Invests half at first, then the others' last investment, up to its coins.

    This is their median in mode 2, which lists all investments, and their mean in mode 1, where only the sum is known.
    """

    def __call__(self, view: PublicGoodsView) -> int:
        """Returns half of the coins, or the others' typical last investment, rounded to the nearest step, halves up."""
        if not view.history:
            return view.highest // 2
        last, n = view.history[-1], view.n_players - 1
        total = last.total - last.investment
        if last.investments:
            others = list(last.investments)
            others.remove(last.investment)
            total, n = others[(n - 1) // 2] + others[n // 2], 2
        return min((2 * total + n) // (2 * n), view.highest)


class EndDefector(ConditionalCooperator):
    """Invests everything at first, then the others' last investment, and nothing at the end.

    Args:
        last: number of final rounds with no investment, at least 1.
    """

    def __init__(self, last: int = 1) -> None:
        check_int("last", last, 1, 100)
        self._last = last

    def __call__(self, view: PublicGoodsView) -> int:
        """Returns everything, the others' typical last investment, or nothing."""
        if view.round > view.rounds - self._last:
            return 0
        return super().__call__(view) if view.history else view.highest


BASELINES = {
    "free_rider": FreeRider,
    "full_contributor": FullContributor,
    "conditional_cooperator": ConditionalCooperator,
    "end_defector": EndDefector,
}
