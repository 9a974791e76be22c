"""Simulations of a run: its own schedules and stop rules, given made results, and rehearsals of what they ask for."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.running.contests import make_scheme
from rating.running.rehearsal import Part, Rehearsal, Talk, parts_of, rehearse
from rating.running.run_file import RunConfig
from rating.schedules.schedule import Stop
from rating.schemes.scheme import Scheme

_REHEARSALS = 12
"""Of each policy in each of the roles that it has in an environment."""

_ENOUGH = 200
"""Rehearsals in an environment, after which one of each policy in each of its roles suffices."""

_MOST_MATCHES = 200_000
"""In an environment, after which a simulation ends in any case."""

_APART = 200.0
"""Elo between neighbours of a pool that is far apart."""

_ELO = 400.0 / np.log(10.0)
"""Elo for one unit of the logistic distribution."""


@dataclass
class Plan:
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
    lag: int = 1
    _rehearsed: Counter[tuple[str, Part]] = field(default_factory=Counter)
    _sizes: set[int] = field(default_factory=set)

    def lacks(self, cast: Mapping[str, Part], seats: int) -> bool:
        """Says whether too little is known of a match to make up its result and to know what it takes."""
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
        """Returns what a policy asked in some roles, or, if that was not rehearsed, what others did, or it in other roles."""
        of_part = [item for item in self.rehearsals if part in item.parts.values()]
        own = [item.talks[policy] for item in of_part if item.parts.get(policy) == part]
        others = [talk for item in of_part for name, talk in item.talks.items() if item.parts[name] == part]
        return own or others or [item.talks[policy] for item in self.rehearsals if policy in item.talks]

    @property
    def at_once(self) -> float:
        """Matches under way at once if nothing limits them."""
        batches = [size for sizes in self.matches for size in sizes]
        return max(1.0, self.lag * sum(batches) / max(1, len(batches)))


async def simulate(config: RunConfig, environment: str, reply_tokens: int) -> Plan:
    """Simulates an environment of a run, once for policies that are equally good and once for ones that are far apart.

    Args:
        config: the run.
        environment: its name.
        reply_tokens: tokens of a reply.
    """
    plan = Plan(environment, [], [], [])
    for apart in (0.0, _APART):
        await _go_through(config, plan, make_scheme(config, environment), apart, reply_tokens)
    return plan


async def _go_through(config: RunConfig, plan: Plan, scheme: Scheme, apart: float, reply_tokens: int) -> None:
    """Goes through a schedule with made results, rehearsing matches of policies of which too little is known."""
    names = config.seated(plan.environment)
    strengths = {name: apart * index for index, name in enumerate(names)}
    rng = np.random.default_rng([config.seed, int(apart)])
    parts: Counter[tuple[str, Part]] = Counter()
    sizes: list[int] = []
    open_batches: list[Sequence[Match]] = []
    schedule = scheme.schedule()
    plan.lag = schedule.lag
    while not isinstance(batch := schedule.next_batch(), Stop) and sum(sizes) < _MOST_MATCHES:
        for match in batch:
            cast = parts_of(match, scheme.agents(len(match.policies)))
            if plan.lacks(cast, len(match.policies)):
                plan.add(await rehearse(config, match, reply_tokens))
            parts.update(cast.items())
        sizes.append(len(batch))
        open_batches.append(batch)
        if len(open_batches) == schedule.lag:
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
