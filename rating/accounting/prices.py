"""Prices of models: what a call costs by the table that the user gives."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from agents.models.calls import Call, CallStatus
from llmarena_envs.core.options import OptionError

_MILLION = 1_000_000

Amount = Annotated[FiniteFloat, Field(ge=0)]
"""Of money for a million tokens."""


class Price(BaseModel):
    """One price, ``[[price]]``; amounts are for a million tokens.

    Attributes:
        model: name of the model as the server knows it, or its beginning followed by ``*``.
        base_url: address of the server; empty for any.
        input: for tokens read.
        cached_input: for those of them that the server had cached; by default as ``input``.
        output: for tokens written.
        reasoning: for those of them that are reasoning; by default as ``output``.
        since: ``from`` in the file: the day from which on the price holds, in UTC; by default always.
        currency: what is paid with; the same in all prices of a run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    model: Annotated[str, Field(min_length=1)]
    base_url: str = ""
    input: Amount
    cached_input: Amount | None = None
    output: Amount
    reasoning: Amount | None = None
    since: Annotated[date | None, Field(alias="from")] = None
    currency: Annotated[str, Field(min_length=1, max_length=12)] = "USD"

    def suits(self, model: str, base_url: str) -> bool:
        """Says whether the price is that of a model on a server, on some day."""
        named = model.startswith(self.model[:-1]) if self.model.endswith("*") else model == self.model
        return named and (not self.base_url or self.base_url.rstrip("/") == base_url.rstrip("/"))

    def cost(self, prompt: int, cached: int, completion: int, reasoning: int) -> float:
        """Returns the cost of tokens; those cached and those of reasoning are among the others."""
        cached, reasoning = min(cached, prompt), min(reasoning, completion)
        of_cached = self.input if self.cached_input is None else self.cached_input
        of_reasoning = self.output if self.reasoning is None else self.reasoning
        read = (prompt - cached) * self.input + cached * of_cached
        return (read + (completion - reasoning) * self.output + reasoning * of_reasoning) / _MILLION


class PriceTable:
    """The prices of a run.

    Of several that suit a model the one with the longest name counts, an exact name before a beginning, then one with an address
    before one without; of several with the same name and address the newest that held when the call was made.

    Args:
        prices: in any order.

    Raises:
        OptionError: if two say something else of the same, or are in different currencies.
    """

    def __init__(self, prices: Sequence[Price] = ()) -> None:
        seen = set()
        for price in prices:
            key = (price.model, price.base_url.rstrip("/"), price.since)
            if "*" in price.model[:-1]:
                raise OptionError(
                    f"price: model: expected a name, or its beginning and one * at the end, got {price.model!r}"
                )
            if key in seen:
                day = f" from {price.since}" if price.since else ""
                raise OptionError(
                    f"price: two prices for {price.model!r}{day}; take one away, or say from which day the newer one holds:"
                    " from = 2026-01-31"
                )
            seen.add(key)
        currencies = sorted({price.currency for price in prices})
        if len(currencies) > 1:
            raise OptionError(
                f"price: currency: expected the same in all prices, got {', '.join(currencies)}; convert them"
            )
        self.currency = currencies[0] if currencies else ""
        self._prices = sorted(prices, key=_rank, reverse=True)
        self._known: dict[tuple[str, str, date], Price | None] = {}

    def __bool__(self) -> bool:
        return bool(self._prices)

    def find(self, model: str, base_url: str, day: date) -> Price | None:
        """Returns the price of a model on a day, or ``None`` if there is none."""
        key = model, base_url, day
        if key not in self._known:
            suitable = (item for item in self._prices if item.suits(model, base_url))
            self._known[key] = next((item for item in suitable if item.since is None or item.since <= day), None)
        return self._known[key]

    def cost(self, call: Call, time: datetime) -> float | None:
        """Returns what the known tokens of a call cost, or ``None`` if nobody has said what they cost."""
        prompt, completion = call.prompt_tokens, call.completion_tokens
        if call.status is CallStatus.CACHED or prompt == completion == 0:
            return 0.0
        price = self.find(call.model, call.base_url, time.astimezone(UTC).date())
        if price is None:
            return None
        return price.cost(prompt or 0, call.cached_tokens or 0, completion or 0, call.reasoning_tokens or 0)


def _rank(price: Price) -> tuple[bool, int, bool, date]:
    return not price.model.endswith("*"), len(price.model), bool(price.base_url), price.since or date.min
