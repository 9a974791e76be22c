"""Prices of models, from the tables in the run file or from a price file."""

import tomllib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from agents.models.calls import Call, CallStatus
from llmarena_envs.core.options import OptionError, nearest

_MILLION = 1_000_000

Amount = Annotated[FiniteFloat, Field(ge=0)]
"""Price per million tokens."""


class Price(BaseModel):
    """One price, ``[[price]]``, per million tokens.

    Attributes:
        model: model name on the server, or a prefix followed by ``*``.
        base_url: address of the server; empty for any.
        input: price of prompt tokens.
        cached_input: price of prompt tokens cached by the server; by default the same as ``input``.
        output: price of completion tokens.
        reasoning: price of reasoning tokens; by default the same as ``output``.
        since: ``from`` in the file: first day of the price, in UTC; by default always.
        currency: currency; the same in all prices of a run.
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
        """Returns whether the price applies to a model on a server, regardless of the date."""
        named = model.startswith(self.model[:-1]) if self.model.endswith("*") else model == self.model
        return named and (not self.base_url or self.base_url.rstrip("/") == base_url.rstrip("/"))

    def cost(self, prompt: int, cached: int, completion: int, reasoning: int) -> float:
        """Returns the cost of tokens; ``prompt`` includes ``cached`` and ``completion`` includes ``reasoning``."""
        cached, reasoning = min(cached, prompt), min(reasoning, completion)
        of_cached = self.input if self.cached_input is None else self.cached_input
        of_reasoning = self.output if self.reasoning is None else self.reasoning
        read = (prompt - cached) * self.input + cached * of_cached
        return (read + (completion - reasoning) * self.output + reasoning * of_reasoning) / _MILLION


class PriceTable:
    """The prices of a run.

    If several prices apply to a call, an exact name takes precedence over a prefix, then the longest name, then a price with an
    address, then the latest date up to the call.

    Args:
        prices: in any order.

    Raises:
        OptionError: if two prices have the same model, address and date, or the currencies differ.
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
        """Returns the price of a model on a day, or ``None``."""
        key = model, base_url, day
        if key not in self._known:
            suitable = (item for item in self._prices if item.suits(model, base_url))
            self._known[key] = next((item for item in suitable if item.since is None or item.since <= day), None)
        return self._known[key]

    def cost(self, call: Call, time: datetime) -> float | None:
        """Returns the cost of the known tokens of a call, or ``None`` if they have no price."""
        prompt, completion = call.prompt_tokens, call.completion_tokens
        if call.status is CallStatus.CACHED or prompt == completion == 0:
            return 0.0
        price = self.find(call.model, call.base_url, time.astimezone(UTC).date())
        if price is None:
            return None
        return price.cost(prompt or 0, call.cached_tokens or 0, completion or 0, call.reasoning_tokens or 0)


def _rank(price: Price) -> tuple[bool, int, bool, date]:
    return not price.model.endswith("*"), len(price.model), bool(price.base_url), price.since or date.min


class _PriceFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    price: list[Price]


OPENAI = "https://api.openai.com/v1"
"""Address of a model without one."""


def shipped_prices() -> list[Price]:
    """Returns the prices of well-known models in ``prices.toml``, with the dates and sources in its comments."""
    with resources.as_file(resources.files("rating") / "prices.toml") as path:
        return read_prices(path)


def read_prices(path: Path) -> list[Price]:
    """Reads a file of ``[[price]]`` tables.

    Raises:
        OptionError: if it cannot be read or is invalid.
    """
    try:
        return _PriceFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).price
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise OptionError(f"prices: expected a TOML file of [[price]] tables, got {str(path)!r}: {error}") from error
    except ValidationError as error:
        raise OptionError(f"{path}: {'; '.join(_explain(item) for item in error.errors())}") from error


def _explain(error: object) -> str:
    assert isinstance(error, dict)
    where = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        known = [field.alias or name for name, field in Price.model_fields.items()]
        return f"unknown key {where!r}; expected one of {', '.join(known)}{nearest(str(error['loc'][-1]), known)}"
    return f"{where}: {error['msg'].lower()}"
