"""What a run is expected to take, found out without asking any model.

How many matches are played is simulated: the scheme's own schedule and stop rule are given made results, once of policies that
are equally good and once of policies that are far apart. What a match takes is measured on rehearsals, matches between scripted
players with the prompts that the models of the run would be sent.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np

from agents.policy import ScriptedPolicy
from agents.registry import make_policy
from rating.accounting.prices import Price
from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.running.contests import make_scheme
from rating.running.rehearsal import MODELS, Part, Rehearsal, Talk, parts_of, rehearse
from rating.running.run_file import RunConfig
from rating.schedules.schedule import UNLIMITED, Stop
from rating.schemes.scheme import Scheme

REPLY_TOKENS = 200
LATENCY = 2.0

_REHEARSALS = 12
"""Of each policy in each of the roles that it has in an environment."""

_MOST_REHEARSALS = 200
_MOST_MATCHES = 200_000
_APART = 200.0
"""Elo between neighbours of a pool that is far apart."""

_ELO = 400.0 / np.log(10.0)


@dataclass(frozen=True)
class Span:
    """What is expected, and between what."""

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
    """What one policy is expected to take in one environment.

    Attributes:
        environment: module name.
        policy: its name.
        matches: in which it sits.
        calls: of its model, one a turn.
        prompt_tokens: read in them.
        completion_tokens: written in them.
        cost: of them; ``None`` without a price.
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
    """What a run is expected to take.

    Attributes:
        rows: of each model in each environment.
        matches: of all policies, by environment.
        seconds: of the whole run.
        currency: of costs; empty without prices.
        rehearsed: matches on which the rows rest.
        left_out: policies whose calls are not known: people, local models, policies of the user's own.
    """

    rows: tuple[Expected, ...]
    matches: dict[str, Span]
    seconds: Span
    currency: str
    rehearsed: int
    left_out: tuple[str, ...]


async def forecast(config: RunConfig, *, reply_tokens: int = REPLY_TOKENS, latency: float = LATENCY) -> Forecast:
    """Finds out what a run is expected to take; nothing is sent.

    Args:
        config: the run.
        reply_tokens: tokens of a reply.
        latency: seconds of a call.
    """
    plans = [await _plan(config, item.name, reply_tokens) for item in config.environment]
    rows, waits = [], []
    for plan in plans:
        found = [_expect(config, plan, policy) for policy in plan.models()]
        calls = sum((row.calls for row in found), NOTHING)
        rows += found
        waits.append((calls * latency, min(config.concurrency, plan.at_once)))
    busy = sum((wait for wait, _ in waits), NOTHING) * (1 / config.concurrency)
    alone = [wait * (1 / at_once) for wait, at_once in waits]
    return Forecast(
        rows=tuple(rows),
        matches={plan.environment: _span([sum(played) for played in plan.matches]) for plan in plans},
        seconds=Span(*(max(values) for values in zip(*map(_values, [busy, *alone]), strict=True))),
        currency=config.price_table().currency,
        rehearsed=sum(len(plan.rehearsals) for plan in plans),
        left_out=tuple(_left_out(config)),
    )


@dataclass
class _Plan:
    """What is known of an environment: its rehearsals, and how often each policy plays in each simulation.

    Attributes:
        environment: module name.
        rehearsals: matches between scripted players.
        parts: in each simulation, matches by policy and what roles it has in them.
        matches: in each simulation, matches of each batch.
        lag: batches under way at once.
    """

    environment: str
    rehearsals: list[Rehearsal]
    parts: list[Counter[tuple[str, Part]]]
    matches: list[list[int]]
    lag: int = UNLIMITED
    _rehearsed: Counter[tuple[str, Part]] = field(default_factory=Counter)
    _sizes: set[int] = field(default_factory=set)

    def lacks(self, cast: Mapping[str, Part], seats: int) -> bool:
        """Says whether too little is known of a match to make up its result and to know what it takes."""
        if seats not in self._sizes:
            return True
        full = len(self.rehearsals) >= _MOST_REHEARSALS
        return not full and any(self._rehearsed[item] < _REHEARSALS for item in cast.items())

    def add(self, rehearsals: Sequence[Rehearsal]) -> None:
        """Adds rehearsals of a match."""
        self.rehearsals += rehearsals
        for item in rehearsals:
            self._rehearsed.update(item.parts.items())
            self._sizes.add(len(item.match.policies))

    def models(self) -> list[str]:
        """Returns the policies that are models, sorted."""
        return sorted({policy for rehearsal in self.rehearsals for policy in rehearsal.talks})

    def talks(self, policy: str, part: Part) -> list[Talk]:
        """Returns what a policy asked in some roles, or, if that was not rehearsed, what others did, or it in other roles."""
        of_part = [item for item in self.rehearsals if part in item.parts.values()]
        own = [item.talks[policy] for item in of_part if item.parts.get(policy) == part]
        others = [talk for item in of_part for name, talk in item.talks.items() if item.parts[name] == part]
        return own or others or [item.talks[policy] for item in self.rehearsals if policy in item.talks]

    @property
    def at_once(self) -> float:
        """Matches under way at once if nothing limits them."""
        batches = [size for sizes in self.matches for size in sizes]
        return max(1.0, min(max(map(sum, self.matches), default=0), self.lag * sum(batches) / max(1, len(batches))))


async def _plan(config: RunConfig, environment: str, reply_tokens: int) -> _Plan:
    plan = _Plan(environment, [], [], [])
    for apart in (0.0, _APART):
        await _simulate(config, plan, make_scheme(config, environment), apart, reply_tokens)
    return plan


async def _simulate(config: RunConfig, plan: _Plan, scheme: Scheme, apart: float, reply_tokens: int) -> None:
    """Goes through a schedule with made results, rehearsing matches of policies of which too little is known."""
    names = config.seated(plan.environment)
    strengths = {name: apart * index for index, name in enumerate(names)}
    rng = np.random.default_rng([config.seed, int(apart)])
    parts: Counter[tuple[str, Part]] = Counter()
    sizes: list[int] = []
    open_batches: list[Sequence[Match]] = []
    schedule = scheme.schedule()
    while not isinstance(batch := schedule.next_batch(), Stop) and sum(sizes) < _MOST_MATCHES:
        for match in batch:
            cast = parts_of(match, scheme.agents(len(match.policies)))
            if plan.lacks(cast, len(match.policies)):
                plan.add(await rehearse(config, match, reply_tokens))
            parts.update(cast.items())
        sizes.append(len(batch))
        open_batches.append(batch)
        plan.lag = min(plan.lag, schedule.lag)
        while len(open_batches) >= schedule.lag:
            results = _Results(plan.rehearsals, strengths, rng)
            schedule.add([results.make(match) for match in open_batches.pop(0)])
    plan.parts.append(parts)
    plan.matches.append(sizes)


class _Results:
    """Makes results: those of rehearsals, with the rewards given to the seats by strength and chance.

    Who does better is drawn by the model of Plackett and Luce: the order of strength plus noise of Gumbel's.
    """

    def __init__(self, rehearsals: Sequence[Rehearsal], strengths: dict[str, float], rng: np.random.Generator) -> None:
        self._strengths = strengths
        self._rng = rng
        self._alike: dict[tuple[int, str], list[Outcome]] = defaultdict(list)
        for item in rehearsals:
            for options in (_options(item.match), ""):
                self._alike[len(item.match.policies), options].append(item.outcome)

    def make(self, match: Match) -> Outcome:
        """Makes the outcome of a match."""
        size = len(match.policies)
        known = self._alike.get((size, _options(match))) or self._alike[size, ""]
        pattern = known[int(self._rng.integers(len(known)))]
        rated = [index for index, seat in enumerate(pattern.seats) if seat.rated]
        merit = [self._strengths[match.policies[index]] + _ELO * self._rng.gumbel() for index in rated]
        order = [rated[place] for place in np.argsort(merit)]
        rewards = dict(zip(order, sorted(pattern.seats[index].reward for index in rated), strict=True))
        seats = tuple(
            replace(seat, policy=policy, reward=rewards.get(index, seat.reward))
            for index, (seat, policy) in enumerate(zip(pattern.seats, match.policies, strict=True))
        )
        return Outcome(match.environment, match.number, match.seed, pattern.status, seats)


def _options(match: Match) -> str:
    return json.dumps(match.options, sort_keys=True)


def _expect(config: RunConfig, plan: _Plan, policy: str) -> Expected:
    parts = sorted({part for played in plan.parts for name, part in played if name == policy})
    matches = [_span([played[policy, part] for played in plan.parts]) for part in parts]
    talks = [plan.talks(policy, part) for part in parts]

    def add_up(value: Callable[[Talk], float]) -> Span:
        spans = (
            _times(often, [value(talk) for talk in of_part]) for often, of_part in zip(matches, talks, strict=True)
        )
        return sum(spans, NOTHING)

    price = _price(config, plan.environment, policy)
    return Expected(
        plan.environment,
        policy,
        matches=sum(matches, NOTHING),
        calls=add_up(lambda talk: talk.calls),
        prompt_tokens=add_up(lambda talk: talk.prompt_tokens),
        completion_tokens=add_up(lambda talk: talk.completion_tokens),
        cost=add_up(lambda talk: price.cost(talk.prompt_tokens, 0, talk.completion_tokens, 0)) if price else None,
    )


def _price(config: RunConfig, environment: str, policy: str) -> Price | None:
    target = config.targets().get((environment, policy))
    if target is None:
        return None
    return config.price_table().find(target.model, target.endpoint.split()[0] or "", datetime.now(UTC).date())


def _span(values: Sequence[float]) -> Span:
    return Span(min(values), sum(values) / len(values), max(values))


def _times(matches: Span, values: Sequence[float]) -> Span:
    """Returns what so many matches take: expected the mean of the rehearsals, between their quartiles."""
    low, high = np.quantile(values, [0.25, 0.75])
    mean = sum(values) / len(values)
    return Span(matches.low * min(low, mean), matches.expected * mean, matches.high * max(high, mean))


def _values(span: Span) -> tuple[float, float, float]:
    return span.low, span.expected, span.high


def _left_out(config: RunConfig) -> list[str]:
    """Returns the policies that are neither models of ours nor scripted."""
    names = {(name, item.name) for item in config.environment for name in config.seated(item.name)}
    found = set()
    for name, environment in sorted(names):
        policy = config.find_policy(name)
        if policy.spec.startswith(MODELS):
            continue
        if not isinstance(make_policy(policy.spec, environment, policy.options), ScriptedPolicy):
            found.add(name)
    return sorted(found)
