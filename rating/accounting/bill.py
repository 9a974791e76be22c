"""The bill of a run: what its calls used, by environment and policy."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime

from agents.models.calls import Call, CallStatus
from rating.accounting.prices import PriceTable


@dataclass
class Usage:
    """What a number of calls used. What is not known is counted as such and adds nothing to the sums.

    Attributes:
        calls: attempts that were sent.
        from_cache: replies for which nothing was sent.
        errors: attempts that failed, by status.
        prompt_tokens: tokens read.
        completion_tokens: tokens written, those of reasoning included.
        cached_tokens: those of the tokens read that servers had cached.
        reasoning_tokens: those of the tokens written that are reasoning.
        measured: attempts that used tokens and whose usage is known.
        unknown: attempts whose usage is not known, in whole or in part.
        cost: of what is known and has a price.
        unpriced: attempts that used, or may have used, tokens that have no price.
        latency: seconds that the attempts took.
        waited: seconds that they waited before they were sent.
    """

    calls: int = 0
    from_cache: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    measured: int = 0
    unknown: int = 0
    cost: float = 0.0
    unpriced: int = 0
    latency: float = 0.0
    waited: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def failed(self) -> int:
        """Attempts that failed."""
        return self.errors.total()

    @property
    def is_exact(self) -> bool:
        """Whether ``cost`` is all of it."""
        return not self.unknown and not self.unpriced

    def add(self, call: Call, cost: float | None) -> None:
        """Counts a call.

        Args:
            call: the call.
            cost: of its known tokens, or ``None`` if they have no price.
        """
        self.waited += call.waited
        if call.status is CallStatus.CACHED:
            self.from_cache += 1
            return
        self.calls += 1
        self.latency += call.latency
        if call.status is not CallStatus.OK:
            self.errors[call.status.value] += 1
        is_known = call.prompt_tokens is not None and call.completion_tokens is not None
        self.unknown += not is_known
        self.prompt_tokens += call.prompt_tokens or 0
        self.completion_tokens += call.completion_tokens or 0
        self.cached_tokens += call.cached_tokens or 0
        self.reasoning_tokens += call.reasoning_tokens or 0
        self.measured += bool(is_known and (call.prompt_tokens or call.completion_tokens))
        self.cost += cost or 0.0
        self.unpriced += cost is None

    @classmethod
    def sum(cls, parts: Iterable["Usage"]) -> "Usage":
        """Returns what all parts used."""
        whole = cls()
        for part in parts:
            for item in fields(cls):
                setattr(whole, item.name, getattr(whole, item.name) + getattr(part, item.name))
        return whole

    def with_unknown(self, amount: float) -> float:
        """Returns an amount of what was measured as it would be if all unknown calls had used the average of the others."""
        return amount * (1 + self.unknown / self.measured) if self.measured else amount


class Bill:
    """Adds up calls.

    Args:
        prices: by which calls cost something.

    Attributes:
        prices: the same.
        totals: what was used, by environment and policy; the environment of calls outside of matches is empty.
    """

    def __init__(self, prices: PriceTable | None = None) -> None:
        self.prices = prices or PriceTable()
        self.totals: defaultdict[tuple[str, str], Usage] = defaultdict(Usage)
        self._total = Usage()

    def add(self, environment: str, policy: str, call: Call, time: datetime | None = None) -> None:
        """Counts a call.

        Args:
            environment: in which it was made.
            policy: that made it.
            call: the call.
            time: when it was made, by default now; prices have dates.
        """
        cost = self.prices.cost(call, time or datetime.now(UTC))
        self.totals[environment, policy].add(call, cost)
        self._total.add(call, cost)

    def total(self) -> Usage:
        """Returns what all calls used."""
        return self._total
