"""Budgets: limits on the cost, tokens and time of a run."""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from rating.errors import BudgetExceeded
from rating.store.calls import Bill

_BLIND = 10
"""Calls of a policy without any usage data after which no budget on cost or tokens can be enforced."""


@dataclass(frozen=True)
class Budget:
    """Limits of a run; ``None`` for no limit.

    Attributes:
        cost: of all calls of all sessions.
        tokens: prompt and completion tokens of all calls of all sessions.
        seconds: duration of this session.
    """

    cost: float | None = None
    tokens: int | None = None
    seconds: float | None = None

    def exceeded(self, bill: Bill) -> BudgetExceeded | None:
        """Returns the error for the exceeded limit on cost or tokens, or ``None``.

        A call of unknown usage counts as the average of the others.
        """
        if self.cost is None and self.tokens is None:
            return None
        used = bill.total()
        cost, tokens = used.with_unknown(used.cost), used.with_unknown(used.tokens)
        guess = f", {used.unknown} calls of unknown usage counted like the others" if used.unknown else ""
        if self.cost is not None and cost >= self.cost:
            return BudgetExceeded(
                f"the budget is used up: {cost:.4g} of {self.cost:g} {bill.prices.currency}{guess}",
                {"--max-cost": _rounded_up(2 * max(cost, self.cost))},
            )
        if self.tokens is not None and tokens >= self.tokens:
            return BudgetExceeded(
                f"the budget is used up: {tokens:.0f} of {self.tokens} tokens{guess}",
                {"--max-tokens": _rounded_up(2 * max(math.ceil(tokens), self.tokens, 1))},
            )
        if used.unknown >= _BLIND and (blind := _blind(bill)):
            return BudgetExceeded(blind, {"--max-cost": None, "--max-tokens": None})
        return None


def _rounded_up(value: float) -> str:
    """Returns a number rounded up to two significant digits, without a trailing ``.0``."""
    exact = Decimal(value)
    unit = Decimal(1).scaleb(exact.adjusted() - 1)
    text = f"{(exact / unit).to_integral_value(ROUND_CEILING) * unit:f}"
    return text.removesuffix(".0")


def _blind(bill: Bill) -> str:
    for (_, policy), usage in bill.totals.items():
        if usage.unknown >= _BLIND and not usage.measured:
            return (
                f"no budget on cost or tokens can be kept: none of {usage.unknown} replies for {policy} says how many tokens it"
                " took; take both limits away, also under [budget], and limit the time (--max-time)"
            )
    return ""
