"""Calls of models: their log entries, and the usage and cost of a run by environment and policy."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any

from agents.models.calls import UNKNOWN_TOKENS, Call, CallStatus
from rating.prices import PriceTable

_MAX_TEXT = 300
_MAX_COUNT = 2**53
_TEXTS = frozenset({"model", "base_url", "agent", "request_id", "error"})
_SECONDS = frozenset({"waited", "latency"})
_DEFAULTS = {item.name: item.default for item in fields(Call) if item.default is not MISSING}
_REQUIRED = frozenset({item.name for item in fields(Call)} - _DEFAULTS.keys())


@dataclass(frozen=True)
class LoggedCall:
    """A call and its context.

    Attributes:
        time: end of the call, in UTC.
        environment: module name; empty for a call outside of matches.
        match: id of the match; empty for a call outside of matches.
        policy: name of the policy.
        call: the call.
    """

    time: datetime
    environment: str
    match: str
    policy: str
    call: Call

    @property
    def key(self) -> tuple[str, str, str]:
        """Key that pairs the start of a call with its end; calls with the same key are interchangeable."""
        return self.match, self.policy, self.call.agent

    def as_lost(self) -> "LoggedCall":
        """Returns the call with status ``LOST`` and unknown token usage."""
        return replace(self, call=replace(self.call, status=CallStatus.LOST, **UNKNOWN_TOKENS))


def dump_call(logged: LoggedCall) -> str:
    """Returns a call as a line of JSON."""
    call = {name: _plain(value) for name, value in vars(logged.call).items() if value != _DEFAULTS.get(name, ...)}
    table = {
        "time": logged.time.isoformat(timespec="milliseconds"),
        "environment": logged.environment,
        "match": logged.match,
        "policy": logged.policy,
        **call,
    }
    return json.dumps(table, separators=(",", ":"))


def _plain(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value[:_MAX_TEXT] if isinstance(value, str) else value


def load_call(line: str) -> LoggedCall:
    """Parses a call.

    Raises:
        ValueError: if it is not a call; also TypeError, OverflowError and RecursionError.
    """
    table = json.loads(line)
    if not isinstance(table, dict):
        raise ValueError("expected a JSON object")
    time = datetime.fromisoformat(_text(table, "time"))
    if time.tzinfo is None:
        raise ValueError("time: expected one with its zone")
    environment, match, policy = (_text(table, name) for name in ("environment", "match", "policy"))
    facts = {name: value for name, value in table.items() if name not in ("time", "environment", "match", "policy")}
    unknown = sorted(facts.keys() - _DEFAULTS.keys() - _REQUIRED)
    if unknown or not facts.keys() >= _REQUIRED:
        raise ValueError(f"unknown keys {unknown}" if unknown else f"expected the keys {sorted(_REQUIRED)}")
    call = Call(**{name: _checked(name, value) for name, value in facts.items()})
    return LoggedCall(time.astimezone(UTC), environment, match, policy, call)


def _text(table: dict[str, Any], name: str) -> str:
    value = table.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name}: expected a text")
    return value


def _checked(name: str, value: Any) -> Any:
    """Returns a value of a call, checked for type and range."""
    if name == "status":
        return CallStatus(value)
    if name in _TEXTS:
        is_right = isinstance(value, str)
    elif name in _SECONDS:
        is_right = (
            isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
        )
    else:
        is_right = (type(value) is int and 0 <= value <= _MAX_COUNT) or (value is None and name != "attempt")
    if not is_right:
        raise ValueError(f"{name}: unexpected value {value!r:.40}")
    return value


@dataclass
class Usage:
    """Usage of several calls. Unknown usage is counted separately and not part of the sums.

    Attributes:
        calls: attempts sent.
        from_cache: replies from the cache.
        errors: failed attempts, by status.
        prompt_tokens: tokens read.
        completion_tokens: tokens written, including reasoning.
        cached_tokens: prompt tokens cached by servers.
        reasoning_tokens: completion tokens spent on reasoning.
        measured: attempts that used tokens and whose usage is known.
        unknown: attempts with partly or entirely unknown usage.
        cost: cost of the known tokens that have a price.
        unpriced: attempts with tokens, or possibly with tokens, that have no price.
        latency: seconds the attempts took.
        waited: seconds they waited before they were sent.
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
        """Failed attempts."""
        return self.errors.total()

    @property
    def is_exact(self) -> bool:
        """Whether ``cost`` is complete."""
        return not self.unknown and not self.unpriced

    def add(self, call: Call, cost: float | None) -> None:
        """Counts a call.

        Args:
            call: the call.
            cost: cost of its known tokens, or ``None`` if they have no price.
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
        """Returns the sum of all parts."""
        whole = cls()
        for part in parts:
            for item in fields(cls):
                setattr(whole, item.name, getattr(whole, item.name) + getattr(part, item.name))
        return whole

    def with_unknown(self, amount: float) -> float:
        """Returns ``amount`` extrapolated to calls of unknown usage, assuming the average of the measured calls."""
        return amount * (1 + self.unknown / self.measured) if self.measured else amount


class Bill:
    """Adds up calls.

    Args:
        prices: prices of the calls.

    Attributes:
        prices: prices of the calls.
        totals: usage by environment and policy; the environment of calls outside of matches is empty.
    """

    def __init__(self, prices: PriceTable | None = None) -> None:
        self.prices = prices or PriceTable()
        self.totals: defaultdict[tuple[str, str], Usage] = defaultdict(Usage)
        self._total = Usage()

    def add(self, environment: str, policy: str, call: Call, time: datetime | None = None) -> None:
        """Counts a call.

        Args:
            environment: its environment.
            policy: its policy.
            call: the call.
            time: time of the call, by default now; prices depend on the date.
        """
        cost = self.prices.cost(call, time or datetime.now(UTC))
        self.totals[environment, policy].add(call, cost)
        self._total.add(call, cost)

    def total(self) -> Usage:
        """Returns the usage of all calls."""
        return self._total
