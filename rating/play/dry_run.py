"""A dry run: forecasts the usage of a run without asking any model.

The number of matches is simulated: the scheme's own schedule and stopping rule receive generated results, once of equally good
policies and once of policies far apart in strength. Usage per match is measured in rehearsals: matches between scripted players
with the prompts of the run's models.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from pettingzoo import AECEnv

from agents.baselines.general import BASELINES
from agents.errors import ProviderError
from agents.models.service import ModelService, Target
from agents.play import play_async, script_observation
from agents.player import seat_players
from agents.policy import Policy, Reply, ScriptedPolicy
from agents.providers import REASONING_TOKENS
from agents.registry import baselines, make_policy, split_spec
from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.text_length import TOKEN, WordCounter
from rating.config.run_file import RunConfig
from rating.play.run import Run
from rating.prices import Price
from rating.schedules.batches import UNLIMITED, Stop
from rating.schemes.base import Scheme
from rating.store.environments import load_environment, make_environment
from rating.store.records import Match, Outcome, outcome_of

_MODELS = "openai:"
"""Spec prefix of the policies with requests sent by our service, which can be intercepted."""

_RANDOM = "random"

REASONING = 10
"""Assumed tokens of a reasoning model's reply, as a multiple of those of another model's."""

_REHEARSALS = 12
"""Rehearsals of each policy in each of its roles in an environment."""

_ENOUGH = 200
"""Rehearsals in an environment after which one of each policy in each of its roles suffices."""

_MOST_MATCHES = 200_000
"""Maximum number of simulated matches in an environment."""

_APART = 200.0
"""Elo between neighbors in a pool of policies far apart in strength."""

_ELO = 400.0 / np.log(10.0)
"""Elo per unit of the logistic distribution."""

_FRAME = 4
"""Tokens that a chat template adds per message."""

_WORDS_PER_TOKEN = 0.75
_NO_LIMIT = 2**31


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


async def forecast(run: Run, *, reply_tokens: int, latency: float) -> Forecast:
    """Returns the expected usage of a run; sends no request.

    Args:
        run: the run.
        reply_tokens: tokens per reply, unless a request allows fewer; ``REASONING`` times as many with a reasoning effort, or
            with room for reasoning (``agents.providers``).
        latency: seconds per call.
    """
    config = run.config
    prices, targets, today = config.price_table(), config.targets(), datetime.now(UTC).date()
    rows: list[Expected] = []
    matches: dict[str, Span] = {}
    busy, alone, rehearsed = NOTHING, [], 0
    for item in config.environment:
        simulation = _Simulation(config, item.name, reply_tokens)
        for apart in (0.0, _APART):
            await simulation.play(run.scheme(item.name), apart)
        found = []
        for policy in simulation.models():
            target = targets.get((item.name, policy))
            price = prices.find(target.model, target.base_url, today) if target else None
            found.append(simulation.expect(policy, price))
        rows += found
        matches[item.name] = _span([sum(batches) for batches in simulation.batches])
        rehearsed += len(simulation.rehearsals)
        wait = sum((row.calls for row in found), NOTHING) * latency
        busy += wait * (1 / config.concurrency)
        alone.append(wait * (1 / min(config.concurrency, simulation.at_once)))
    seconds = [(span.low, span.expected, span.high) for span in (busy, *alone)]
    return Forecast(
        rows=tuple(rows),
        matches=matches,
        seconds=Span(*map(max, zip(*seconds, strict=True))),
        currency=prices.currency,
        rehearsed=rehearsed,
        left_out=tuple(_left_out(config)),
    )


def _left_out(config: RunConfig) -> list[str]:
    """Returns the policies that are neither ``openai:`` models nor scripted."""
    found = set()
    for item in config.environment:
        for name in config.seated(item.name):
            policy = config.find_policy(name)
            if not split_spec(policy.spec)[0].startswith(_MODELS):
                made = make_policy(policy.spec, item.name, policy.options)
                found |= set() if isinstance(made, ScriptedPolicy) else {name}
    return sorted(found)


def _span(values: Sequence[float]) -> Span:
    return Span(min(values), sum(values) / len(values), max(values))


def _times(matches: Span, values: Sequence[float]) -> Span:
    """Returns the usage of some matches: expected the mean of the rehearsals, with their quartiles as range."""
    low, high = np.quantile(values, [0.25, 0.75])
    mean = sum(values) / len(values)
    return Span(matches.low * min(low, mean), matches.expected * mean, matches.high * max(high, mean))


Roles = tuple[str, ...]
"""The roles of a policy in a match, one per seat."""


def _roles(match: Match, agents: Sequence[str]) -> dict[str, Roles]:
    """Returns the roles of each policy of a match by name."""
    roles: dict[str, Roles] = {}
    for agent, policy in zip(agents, match.policies, strict=True):
        roles[policy] = tuple(sorted((*roles.get(policy, ()), role_of(agent))))
    return roles


@dataclass
class Usage:
    """Usage of a policy in one match."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True)
class _Rehearsal:
    """A match between scripted players, and the usage of its policies that are models."""

    outcome: Outcome
    options: str
    roles: Mapping[str, Roles]
    usage: Mapping[str, Usage]


class _Simulation:
    """Plays through the schedule of an environment with generated results, and rehearses some of its matches.

    Attributes:
        rehearsals: of all simulations.
        batches: of each simulation, number of matches of each batch.
    """

    def __init__(self, config: RunConfig, environment: str, reply_tokens: int) -> None:
        self._config = config
        self._environment = environment
        self._reply_tokens = reply_tokens
        self._rehearsed: Counter[tuple[str, Roles]] = Counter()
        self._patterns: dict[tuple[int, str], list[Outcome]] = defaultdict(list)
        self._played: list[Counter[tuple[str, Roles]]] = []
        self._lag = UNLIMITED
        self.rehearsals: list[_Rehearsal] = []
        self.batches: list[list[int]] = []

    async def play(self, scheme: Scheme, apart: float) -> None:
        """Plays through a schedule; ``apart`` is the difference in Elo between neighbors in the pool."""
        strengths = {name: apart * index for index, name in enumerate(self._config.seated(self._environment))}
        rng = np.random.default_rng([self._config.seed, int(apart)])
        played: Counter[tuple[str, Roles]] = Counter()
        sizes: list[int] = []
        open_batches: list[Sequence[Match]] = []
        schedule = scheme.schedule()
        while not isinstance(batch := schedule.next_batch(), Stop) and sum(sizes) < _MOST_MATCHES:
            for match in batch:
                roles = _roles(match, scheme.agents(len(match.policies)))
                if self._lacks(match, roles):
                    await self._rehearse(match)
                played.update(roles.items())
            sizes.append(len(batch))
            open_batches.append(batch)
            self._lag = min(self._lag, schedule.lag)
            while len(open_batches) >= schedule.lag:
                schedule.add([self._result(match, strengths, rng) for match in open_batches.pop(0)])
        self._played.append(played)
        self.batches.append(sizes)

    def _lacks(self, match: Match, roles: Mapping[str, Roles]) -> bool:
        """Returns whether a match needs more rehearsals before its result and usage can be generated."""
        if (len(match.policies), "") not in self._patterns:
            return True
        least = _REHEARSALS if len(self.rehearsals) < _ENOUGH else 1
        return any(self._rehearsed[item] < least for item in roles.items())

    async def _rehearse(self, match: Match) -> None:
        """Plays a match once per script of its game, with the requests that its models would send."""
        for style in _styles(match.environment):
            try:
                found = await _rehearse(self._config, match, style, self._reply_tokens)
            except ProviderError:  # the script does not support all seats or these options
                if style == _RANDOM:
                    raise
                continue
            self.rehearsals.append(found)
            self._rehearsed.update(found.roles.items())
            for options in (found.options, ""):
                self._patterns[len(match.policies), options].append(found.outcome)

    def _result(self, match: Match, strengths: Mapping[str, float], rng: np.random.Generator) -> Outcome:
        """Returns a rehearsed outcome with its rewards assigned to the seats by strength and chance.

        The order follows the Plackett-Luce model: strength plus Gumbel noise.
        """
        size = len(match.policies)
        known = self._patterns.get((size, _options(match))) or self._patterns[size, ""]
        pattern = known[int(rng.integers(len(known)))]
        rated = [index for index, seat in enumerate(pattern.seats) if seat.rated]
        merit = [strengths.get(match.policies[index], 0.0) + _ELO * rng.gumbel() for index in rated]
        order = [rated[place] for place in np.argsort(merit)]
        rewards = dict(zip(order, sorted(pattern.seats[index].reward for index in rated), strict=True))
        seats = tuple(
            replace(seat, policy=policy, reward=rewards.get(index, seat.reward))
            for index, (seat, policy) in enumerate(zip(pattern.seats, match.policies, strict=True))
        )
        return Outcome(match.environment, match.number, match.seed, pattern.status, seats)

    def models(self) -> list[str]:
        """Returns the policies that are models, sorted."""
        return sorted({policy for rehearsal in self.rehearsals for policy in rehearsal.usage})

    @property
    def at_once(self) -> float:
        """Concurrent matches without any limit."""
        sizes = [size for batches in self.batches for size in batches]
        return max(1.0, min(max(map(sum, self.batches), default=0), self._lag * sum(sizes) / max(1, len(sizes))))

    def expect(self, policy: str, price: Price | None) -> Expected:
        """Returns the expected usage of a model."""
        all_roles = sorted({roles for played in self._played for name, roles in played if name == policy})
        matches = [_span([played[policy, roles] for played in self._played]) for roles in all_roles]
        usages = [self._usages(policy, roles) for roles in all_roles]

        def add_up(value: Callable[[Usage], float]) -> Span:
            spans = (_times(often, [*map(value, used)]) for often, used in zip(matches, usages, strict=True))
            return sum(spans, NOTHING)

        return Expected(
            self._environment,
            policy,
            matches=sum(matches, NOTHING),
            calls=add_up(lambda used: used.calls),
            prompt_tokens=add_up(lambda used: used.prompt_tokens),
            completion_tokens=add_up(lambda used: used.completion_tokens),
            cost=add_up(lambda used: price.cost(used.prompt_tokens, 0, used.completion_tokens, 0)) if price else None,
        )

    def _usages(self, policy: str, roles: Roles) -> list[Usage]:
        """Returns a policy's usage in some roles; if not rehearsed, other policies' usage in them, or its own in others."""
        in_roles = [item for item in self.rehearsals if roles in item.roles.values()]
        own = [item.usage[policy] for item in in_roles if item.roles.get(policy) == roles]
        others = [used for item in in_roles for name, used in item.usage.items() if item.roles[name] == roles]
        return own or others or [item.usage[policy] for item in self.rehearsals if policy in item.usage]


def _options(match: Match) -> str:
    return json.dumps(match.options, sort_keys=True)


def _styles(environment: str) -> list[str]:
    """Returns the scripts for rehearsals: random play, and the game's own baselines if moves are enumerated.

    The baselines make matches longer or shorter. Baselines with text moves play roles, some of them absurd, and are left out.
    """
    if load_environment(environment).action_examples:
        return [_RANDOM]
    return [_RANDOM, *sorted(baselines(environment).keys() - BASELINES.keys())]


async def _rehearse(config: RunConfig, match: Match, style: str, reply_tokens: int) -> _Rehearsal:
    """Plays a match by a script, and measures the requests that its models would send."""
    env = make_environment(match.environment, match.options)
    usage: defaultdict[str, Usage] = defaultdict(Usage)
    players: dict[str, Policy] = {}
    for agent, name in zip(env.possible_agents, match.policies, strict=True):
        policy = config.find_policy(name)
        model = None
        if split_spec(policy.spec)[0].startswith(_MODELS):
            service = Meter(usage[name], reply_tokens)
            model = make_policy(policy.spec, match.environment, policy.options, service=service)
        players[agent] = _Rehearser(env, make_policy(style, match.environment), model)
    try:
        episode = await play_async(env, seat_players(players), match.seed, config.turn_settings(match.environment))
    finally:
        env.close()
    agents = list(env.possible_agents)
    return _Rehearsal(outcome_of(match, agents, episode), _options(match), _roles(match, agents), dict(usage))


class _Rehearser:
    """Plays by script after a model has made its request."""

    def __init__(self, env: AECEnv, script: Policy, model: Policy | None) -> None:
        self._env = env.unwrapped
        self._script: Any = script
        self._model: Any = model
        self.wants_legal = bool(getattr(model, "wants_legal", False))
        self.wants_update = bool(getattr(model, "wants_update", False))
        self.wants_form = bool(getattr(model, "wants_form", False))
        self.wants_chat = bool(getattr(model, "wants_chat", False))

    def reset(self, agent: str, seed: int) -> None:
        self._agent = agent
        self._replies: list[str] = []
        self._script.reset(agent, seed)
        if self._model is not None:
            self._model.reset(agent, seed)

    async def __call__(self, observation: Any) -> Any:
        if self._model is not None:
            self._replies.append((await self._model(self._with_replies(observation))).text)
        return self._script(script_observation(self._env, self._agent, self._script.reads))

    def _with_replies(self, observation: Any) -> Any:
        """Returns an observation with the model's replies in its chat instead of the script's."""
        if "chat" not in observation:
            return observation
        chat = list(observation["chat"])
        own = [number for number, message in enumerate(chat) if message.role == "assistant"]
        for number, reply in zip(reversed(own), reversed(self._replies), strict=False):
            chat[number] = chat[number]._replace(content=reply)
        return {**observation, "chat": tuple(chat)}


class Meter(ModelService):
    """Measures requests instead of sending them, and replies with placeholder text of the expected length."""

    def __init__(self, usage: Usage, reply_tokens: int) -> None:
        super().__init__(offline=True)
        self._usage = usage
        self._reply_tokens = reply_tokens
        self._counter = WordCounter("en")

    async def complete(self, target: Target, request: Mapping[str, Any], *, agent: str, sample: str) -> Reply:
        """Adds a request to the usage, and returns placeholder text."""
        limits = [request.get(name) for name in ("max_completion_tokens", "max_tokens")]
        limit = min(value if type(value) is int else _NO_LIMIT for value in limits)
        visible = min(self._reply_tokens, limit)
        reasons = "reasoning_effort" in request or REASONING_TOKENS <= limit < _NO_LIMIT
        written = min(REASONING * self._reply_tokens, limit) if reasons else visible
        read = sum(_FRAME + self._length(message.get("content")) for message in request["messages"])
        self._usage.calls += 1
        self._usage.prompt_tokens += read
        self._usage.completion_tokens += written
        text = " ".join(["word"] * max(1, round(_WORDS_PER_TOKEN * visible)))
        return Reply(text, prompt_tokens=read, completion_tokens=written)

    def _length(self, content: object) -> int:
        return -(-self._counter.length(content if isinstance(content, str) else str(content)) // TOKEN)
