"""The setting of a scheme: an environment, its policies, and the rules of the run for them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llmarena_envs.core.declaration import Declaration, role_of
from llmarena_envs.core.options import OptionError, check_choice
from rating.prices import Price
from rating.schedules.swiss import TournamentRules
from rating.schemes.stopping import StopRule

ROUND_ROBIN = "round_robin"
"""The fixed, repeating schedule, available in every scheme."""

ADAPTIVE = "adaptive"
"""The schedule that chooses pairings from the results."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentSetting:
    """The environment of a scheme.

    Attributes:
        name: module name.
        agents: its seats.
        declaration: its declaration.
        options: constructor options.
        takes: names of its constructor options.
        by_deal: options varied across deals: name -> values, cycled.
        references: reference values by label.
    """

    name: str
    agents: tuple[str, ...]
    declaration: Declaration
    options: Mapping[str, Any] = field(default_factory=dict)
    takes: tuple[str, ...] = ()
    by_deal: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    references: Mapping[str, float] = field(default_factory=dict)

    @property
    def rated_agents(self) -> list[str]:
        """The rated seats."""
        return [agent for agent in self.agents if self.declaration.is_rated(agent)]


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The policies of a scheme.

    Attributes:
        policies: names of the compared policies, in order of entry.
        newcomers: policies added later, by phase; also in ``policies``.
        withdrawn: policies withdrawn by the user.
        staff: names of the policies of each unrated role.
        seats: policies on the rated seats of every match; empty if the scheme assigns them.
        opponent: name of the fixed policy on the seats that are not under test; empty for the standard.
        prices: returns the model price of each policy that asks a model, ``None`` if unknown; called for adaptive schedules only.
    """

    policies: tuple[str, ...]
    newcomers: tuple[tuple[str, ...], ...] = ()
    withdrawn: frozenset[str] = frozenset()
    staff: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seats: tuple[str, ...] = ()
    opponent: str = ""
    prices: Callable[[], Mapping[str, Price | None]] = dict

    @property
    def founders(self) -> tuple[str, ...]:
        """Policies present from the beginning."""
        return self.policies[: len(self.policies) - sum(map(len, self.newcomers))]


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """When play stops.

    Attributes:
        rule: stopping rule of rated environments; also the limits of the others.
        matches: number of matches of each policy if the scheme does not use ``rule``.
        half_width: maximum half-width of the 95 % intervals of means, to stop play; ``None`` for a number of matches.
    """

    rule: StopRule = field(default_factory=StopRule)
    matches: int = 100
    half_width: float | None = None


@dataclass(frozen=True, kw_only=True)
class Begun:
    """The matches begun in earlier sessions.

    Attributes:
        count: their number.
        has_ended: whether the schedule ended with them.
        starts: number of the first match of each newcomer phase that has begun.
        seats: policies on the seats of each match, by number; adaptive schedules only.
    """

    count: int = 0
    has_ended: bool = False
    starts: tuple[int, ...] = ()
    seats: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Setting:
    """An environment and its settings in the run; the input of a scheme.

    Attributes:
        environment: the environment.
        pool: its policies.
        stopping: when play stops.
        begun: the matches begun in earlier sessions.
        seed: root seed of the run.
        schedule: ``round_robin`` or ``adaptive``.
        ahead: maximum number of batches ahead of the stopping rule.
        value: statistic of the environment averaged by the schemes ``field`` and ``mean_reward``; empty for none.
        tournament: rules of a tournament; ``None`` for the standard ones.
        max_fallbacks: maximum share of fallback turns; the rating of a policy above it is withheld.
    """

    environment: EnvironmentSetting
    pool: Pool
    stopping: Stopping = field(default_factory=Stopping)
    begun: Begun = field(default_factory=Begun)
    seed: int = 0
    schedule: str = ROUND_ROBIN
    ahead: int = 2
    value: str = ""
    tournament: TournamentRules | None = None
    max_fallbacks: float = 0.5


def seat_staff(
    environment: EnvironmentSetting, agents: Sequence[str], staff: Mapping[str, Sequence[str]]
) -> dict[int, str]:
    """Returns the policy on each unrated seat, by seat index.

    The policies of a role are cycled over its seats: seat ``judge_k`` gets policy k modulo their number.

    Args:
        environment: the environment.
        agents: every seat.
        staff: policies of each role, from the run file.

    Raises:
        OptionError: if a role has no policy or more policies than seats, or is not a staff role.
    """
    declaration = environment.declaration
    seats = {seat: agent for seat, agent in enumerate(agents) if not declaration.is_rated(agent)}
    if len(seats) == len(agents):
        raise OptionError(
            f"{environment.name}: expected seats with one of the roles {declaration.rated_roles}, got {agents}"
        )
    roles = sorted({role_of(agent) for agent in seats.values()})
    for role in staff:
        if not roles:
            raise OptionError(f"{environment.name}: staff: expected none, since every seat is rated here, got {role!r}")
        check_choice(f"{environment.name}: staff", role, roles)
        count = sum(role_of(agent) == role for agent in seats.values())
        if len(staff[role]) > count:
            raise OptionError(
                f"{environment.name}: staff: expected as many policies as there are seats of {role} or fewer ({count}),"
                f" got {len(staff[role])}"
            )
    missing = [role for role in roles if not staff.get(role)]
    if missing:
        example = "\n".join(f'{role} = ["random"]' for role in missing)
        raise OptionError(
            f"{environment.name}: expected policies for the roles that are not rated ({', '.join(missing)}); write below its"
            f" [[environment]], with policies of your choice:\n[environment.staff]\n{example}"
        )
    return {seat: staff[role_of(agent)][_number(agent) % len(staff[role_of(agent)])] for seat, agent in seats.items()}


def _number(agent: str) -> int:
    """Returns the number in an agent's id; 0 for a bare role."""
    number = agent.rpartition("_")[2]
    return int(number) if number.isdecimal() and role_of(agent) != agent else 0
