"""Forecasts of the usage of a run, without asking any model.

The number of matches is simulated: the scheme's own schedule and stopping rule receive generated results, once of equally good
policies and once of policies far apart in strength. Usage per match is measured in rehearsals: matches between scripted players
with the prompts of the run's models.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from agents.policy import ScriptedPolicy
from agents.registry import make_policy
from rating.config.run_file import RunConfig
from rating.play.rehearsal import MODELS, Talk
from rating.play.simulation import Plan, simulate
from rating.prices import Price


@dataclass(frozen=True)
class Span:
    """An expected value and its range."""

    low: float
    expected: float
    high: float

    def __add__(self, other: "Span") -> "Span":
        return Span(self.low + other.low, self.expected + other.expected, self.high + other.high)

    def __mul__(self, factor: float) -> "Span":
        return Span(self.low * factor, self.expected * factor, self.high * factor)


NOTHING = Span(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Expected:
    """Expected usage of one policy in one environment.

    Attributes:
        environment: module name.
        policy: its name.
        matches: number of its matches.
        calls: of its model, one per turn.
        prompt_tokens: of all calls.
        completion_tokens: of all calls.
        cost: of all calls; ``None`` without a price.
    """

    environment: str
    policy: str
    matches: Span
    calls: Span
    prompt_tokens: Span
    completion_tokens: Span
    cost: Span | None


@dataclass(frozen=True)
class Forecast:
    """Expected usage of a run.

    Attributes:
        rows: one for each model in each environment.
        matches: of all policies, by environment.
        seconds: duration of the whole run.
        currency: of costs; empty without prices.
        rehearsed: number of rehearsals.
        left_out: policies of unknown usage: people, local models, policies of the user's own.
    """

    rows: tuple[Expected, ...]
    matches: dict[str, Span]
    seconds: Span
    currency: str
    rehearsed: int
    left_out: tuple[str, ...]


async def forecast(config: RunConfig, *, reply_tokens: int, latency: float) -> Forecast:
    """Returns the expected usage of a run; sends no request.

    Args:
        config: the run.
        reply_tokens: tokens per reply.
        latency: seconds per call.
    """
    plans = [await simulate(config, item.name, reply_tokens) for item in config.environment]
    prices, targets, today = config.price_table(), config.targets(), datetime.now(UTC).date()
    rows, waits = [], []
    for plan in plans:
        found = []
        for policy in plan.models():
            target = targets.get((plan.environment, policy))
            price = prices.find(target.model, target.base_url, today) if target else None
            found.append(_expect(plan, policy, price))
        calls = sum((row.calls for row in found), NOTHING)
        rows += found
        waits.append((calls * latency, min(config.concurrency, plan.at_once)))
    busy = sum((wait for wait, _ in waits), NOTHING) * (1 / config.concurrency)
    alone = [wait * (1 / at_once) for wait, at_once in waits]
    return Forecast(
        rows=tuple(rows),
        matches={plan.environment: _span([sum(played) for played in plan.matches]) for plan in plans},
        seconds=Span(*(max(values) for values in zip(*map(_values, [busy, *alone]), strict=True))),
        currency=prices.currency,
        rehearsed=sum(len(plan.rehearsals) for plan in plans),
        left_out=tuple(_left_out(config)),
    )


def _expect(plan: Plan, policy: str, price: Price | None) -> Expected:
    parts = sorted({part for played in plan.parts for name, part in played if name == policy})
    matches = [_span([played[policy, part] for played in plan.parts]) for part in parts]
    talks = [plan.talks(policy, part) for part in parts]

    def add_up(value: Callable[[Talk], float]) -> Span:
        spans = (
            _times(often, [value(talk) for talk in of_part]) for often, of_part in zip(matches, talks, strict=True)
        )
        return sum(spans, NOTHING)

    return Expected(
        plan.environment,
        policy,
        matches=sum(matches, NOTHING),
        calls=add_up(lambda talk: talk.calls),
        prompt_tokens=add_up(lambda talk: talk.prompt_tokens),
        completion_tokens=add_up(lambda talk: talk.completion_tokens),
        cost=add_up(lambda talk: price.cost(talk.prompt_tokens, 0, talk.completion_tokens, 0)) if price else None,
    )


def _span(values: Sequence[float]) -> Span:
    return Span(min(values), sum(values) / len(values), max(values))


def _times(matches: Span, values: Sequence[float]) -> Span:
    """Returns the usage of some matches: expected the mean of the rehearsals, with their quartiles as range."""
    low, high = np.quantile(values, [0.25, 0.75])
    mean = sum(values) / len(values)
    return Span(matches.low * min(low, mean), matches.expected * mean, matches.high * max(high, mean))


def _values(span: Span) -> tuple[float, float, float]:
    return span.low, span.expected, span.high


def _left_out(config: RunConfig) -> list[str]:
    """Returns the policies that are neither ``openai:`` models nor scripted."""
    names = {(name, item.name) for item in config.environment for name in config.seated(item.name)}
    found = set()
    for name, environment in sorted(names):
        policy = config.find_policy(name)
        if policy.spec.startswith(MODELS):
            continue
        if not isinstance(make_policy(policy.spec, environment, policy.options), ScriptedPolicy):
            found.add(name)
    return sorted(found)
