"""Simulations of a run: its own schedules and stopping rules with generated results, and rehearsals of its matches."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rating.config.run_file import RunConfig
from rating.play.contests import make_scheme
from rating.play.rehearsal import Part, Rehearsal, Talk, parts_of, rehearse
from rating.schedules.batches import UNLIMITED, Stop
from rating.schemes.base import Scheme
from rating.store.match import Match
from rating.store.outcome import Outcome

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


@dataclass
class Plan:
    """Rehearsals of an environment, and how often each policy plays in each simulation.

    Attributes:
        environment: module name.
        rehearsals: matches between scripted players.
        parts: in each simulation, number of matches by policy and its roles in them.
        matches: in each simulation, number of matches of each batch.
        lag: maximum number of open batches.
    """

    environment: str
    rehearsals: list[Rehearsal]
    parts: list[Counter[tuple[str, Part]]]
    matches: list[list[int]]
    lag: int = UNLIMITED
    _rehearsed: Counter[tuple[str, Part]] = field(default_factory=Counter)
    _sizes: set[int] = field(default_factory=set)

    def lacks(self, cast: Mapping[str, Part], seats: int) -> bool:
        """Returns whether a match needs more rehearsals before its result and usage can be generated."""
        if seats not in self._sizes:
            return True
        least = _REHEARSALS if len(self.rehearsals) < _ENOUGH else 1
        return any(self._rehearsed[item] < least for item in cast.items())

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
        """Returns a policy's usage in some roles; if not rehearsed, other policies' usage in them, or its own in others."""
        of_part = [item for item in self.rehearsals if part in item.parts.values()]
        own = [item.talks[policy] for item in of_part if item.parts.get(policy) == part]
        others = [talk for item in of_part for name, talk in item.talks.items() if item.parts[name] == part]
        return own or others or [item.talks[policy] for item in self.rehearsals if policy in item.talks]

    @property
    def at_once(self) -> float:
        """Concurrent matches without any limit."""
        batches = [size for sizes in self.matches for size in sizes]
        return max(1.0, min(max(map(sum, self.matches), default=0), self.lag * sum(batches) / max(1, len(batches))))


async def simulate(config: RunConfig, environment: str, reply_tokens: int) -> Plan:
    """Simulates an environment of a run, once with equally good policies and once with policies far apart in strength.

    Args:
        config: the run.
        environment: its name.
        reply_tokens: tokens per reply.
    """
    plan = Plan(environment, [], [], [])
    for apart in (0.0, _APART):
        await _go_through(config, plan, make_scheme(config, environment), apart, reply_tokens)
    return plan


async def _go_through(config: RunConfig, plan: Plan, scheme: Scheme, apart: float, reply_tokens: int) -> None:
    """Plays through a schedule with generated results, and rehearses matches of policies with too few rehearsals."""
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
    """Generates results: rehearsed outcomes, with rewards assigned to the seats by strength and chance.

    The order follows the Plackett-Luce model: strength plus Gumbel noise.
    """

    def __init__(self, rehearsals: Sequence[Rehearsal], strengths: dict[str, float], rng: np.random.Generator) -> None:
        self._strengths = strengths
        self._rng = rng
        self._alike: dict[tuple[int, str], list[Outcome]] = defaultdict(list)
        for item in rehearsals:
            for options in (_options(item.match), ""):
                self._alike[len(item.match.policies), options].append(item.outcome)

    def make(self, match: Match) -> Outcome:
        """Returns a generated outcome of a match."""
        size = len(match.policies)
        known = self._alike.get((size, _options(match))) or self._alike[size, ""]
        pattern = known[int(self._rng.integers(len(known)))]
        rated = [index for index, seat in enumerate(pattern.seats) if seat.rated]
        merit = [self._strengths.get(match.policies[index], 0.0) + _ELO * self._rng.gumbel() for index in rated]
        order = [rated[place] for place in np.argsort(merit)]
        rewards = dict(zip(order, sorted(pattern.seats[index].reward for index in rated), strict=True))
        seats = tuple(
            replace(seat, policy=policy, reward=rewards.get(index, seat.reward))
            for index, (seat, policy) in enumerate(zip(pattern.seats, match.policies, strict=True))
        )
        return Outcome(match.environment, match.number, match.seed, pattern.status, seats)


def _options(match: Match) -> str:
    return json.dumps(match.options, sort_keys=True)
