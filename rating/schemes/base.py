"""The scheme interface: how the policies of one environment are scheduled and compared."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

from llmarena_envs.core.declaration import Declaration, role_of
from llmarena_envs.core.options import OptionError, check_choice
from rating.prices import Price
from rating.schedules.batches import BATCH_MATCHES, Contest, Schedule
from rating.schedules.swiss import TournamentRules
from rating.schemes.caveats import counted, reserve
from rating.schemes.figures import Figure
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.seat_groups import SEATS, Places, sides
from rating.schemes.stopping import FIRST_MATCHES, PAUSED, RuleValues, StopRule, no_information
from rating.stats.bradley_terry import Comparisons
from rating.stats.simultaneous import DealResult, reward_cases
from rating.store.outcome import Outcome

ROUND_ROBIN = "round_robin"
"""The fixed, repeating schedule, available in every scheme."""

ADAPTIVE = "adaptive"
"""The schedule that chooses pairings from the results."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """An environment and its settings in the run; the input of a scheme.

    Attributes:
        environment: module name.
        agents: its seats.
        declaration: the environment's declaration.
        policies: names of the compared policies, in order of entry.
        options: constructor options.
        takes: names of the environment's constructor options.
        seed: root seed of the run.
        by_deal: options varied across deals: name -> values, cycled.
        staff: names of the policies of each unrated role.
        seats: policies on the rated seats of every match; empty if the scheme assigns them.
        opponent: name of the fixed policy on the seats that are not under test; empty for the standard.
        stop: stopping rule of rated environments.
        matches: number of matches of each policy if the scheme does not use ``stop``.
        ahead: maximum number of batches ahead of the stopping rule.
        schedule: ``round_robin`` or ``adaptive``.
        recorded: policies on the seats of each match begun in earlier sessions, by number; adaptive schedules only.
        references: reference values by label.
        value: statistic of the environment averaged by the schemes ``field`` and ``mean_reward``; empty for none.
        half_width: maximum half-width of the 95 % intervals of means, to stop play; ``None`` for a number of matches.
        tournament: rules of a tournament; ``None`` for the standard ones.
        max_fallbacks: maximum share of fallback turns; the rating of a policy above it is withheld.
        newcomers: policies added later, by phase.
        starts: number of the first match of each newcomer phase that has begun.
        begun: number of matches begun in earlier sessions.
        withdrawn: policies withdrawn by the user.
        prices: returns the model price of each policy that asks a model, ``None`` if unknown; called for adaptive schedules only.
    """

    environment: str
    agents: tuple[str, ...]
    declaration: Declaration
    policies: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    takes: tuple[str, ...] = ()
    by_deal: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seed: int = 0
    staff: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seats: tuple[str, ...] = ()
    opponent: str = ""
    stop: StopRule = field(default_factory=StopRule)
    matches: int = 100
    ahead: int = 2
    schedule: str = ROUND_ROBIN
    recorded: tuple[tuple[str, ...], ...] = ()
    references: Mapping[str, float] = field(default_factory=dict)
    value: str = ""
    half_width: float | None = None
    tournament: TournamentRules | None = None
    max_fallbacks: float = 0.5
    newcomers: tuple[tuple[str, ...], ...] = ()
    starts: tuple[int, ...] = ()
    begun: int = 0
    withdrawn: frozenset[str] = frozenset()
    prices: Callable[[], Mapping[str, Price | None]] = dict

    @property
    def founders(self) -> tuple[str, ...]:
        """Policies present from the beginning."""
        return self.policies[: len(self.policies) - sum(map(len, self.newcomers))]


class Scheme(ABC):
    """A way of comparing policies in one environment of a run.

    Args:
        setting: the environment and its settings in the run.

    Attributes:
        name: name of the scheme in environment declarations.
        can_adapt: whether it supports the adaptive schedule.
        standard_schedule: default schedule: ``adaptive`` or ``round_robin``.
        rivals: whether the rated policies of a match are rivals: the one with the larger reward wins.
        parts_add_up: whether the parts of ``cases`` can be combined into one result with equal weights.

    Raises:
        OptionError: if the scheme does not fit the environment and the policies of the run.
    """

    name: ClassVar[str]
    can_adapt: ClassVar[bool] = False
    standard_schedule: ClassVar[str] = ROUND_ROBIN
    rivals: ClassVar[bool] = False
    parts_add_up: ClassVar[bool] = False

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        environment = setting.environment
        seats = sum(map(setting.declaration.is_rated, setting.agents))
        if len(setting.policies) < self.least_policies(seats):
            raise OptionError(
                f"{environment}: expected {self.least_policies(seats)} policies or more, got"
                f" {list(setting.policies)}; name more with [[policy]]"
            )
        if setting.schedule == ADAPTIVE and not self.can_adapt:
            raise OptionError(
                f"{environment}: schedule: expected {ROUND_ROBIN!r}, since policies are compared by {self.name!r} here, which has"
                f" no other; got {setting.schedule!r}"
            )
        self._contest = Contest(
            environment,
            setting.policies,
            seats,
            setting.options,
            setting.seed,
            batch=min(BATCH_MATCHES, setting.stop.max_matches),
            staff=self.staff(),
            by_deal=setting.by_deal,
        )
        self.check()

    @abstractmethod
    def schedule(self) -> Schedule:
        """Returns a new schedule."""

    def leaderboard(
        self,
        outcomes: Iterable[Outcome],
        stop_reason: str = "",
        *,
        scheduled: int | None = None,
        stopped_after: int | None = None,
        absent: Mapping[str, str] = MappingProxyType({}),
    ) -> Leaderboard:
        """Makes the leaderboard.

        Args:
            outcomes: outcomes, including void ones, in any order; other environments are ignored. At least one.
            stop_reason: why play stopped.
            scheduled: number of matches after which the schedule ended; later ones are excluded. ``None`` while it continues.
            stopped_after: number of matches whose outcomes the stopping rule had when it fired; ``None`` while it continues.
            absent: why policies were suspended or withdrawn, by name.

        Raises:
            ValueError: if there are no outcomes.
        """
        own = self.own(outcomes)
        scored = counted(own, scheduled)
        values = self.values(scored, absent.keys(), stop_reason, stopped_after)
        return reserve(
            replace(
                self.board(scored, stop_reason),
                stopped_after=stopped_after,
                stopped_with=values.stopped_with,
                reached=values.now,
                paused=self.no_information(scored) if stop_reason == PAUSED else "",
            ),
            scored,
            max_fallbacks=self.setting.max_fallbacks,
            absent=absent,
            scheduled=scheduled,
            left_over=len(own) - len(scored),
        )

    @property
    def first_matches(self) -> int:
        """Number of matches after which an uninformative game is paused."""
        return FIRST_MATCHES

    def no_information(self, outcomes: Iterable[Outcome]) -> str:
        """Returns why the first matches do not separate the policies; empty if they do."""
        return no_information(self.own(outcomes), self.first_matches, rivals=self.rivals)

    def values(
        self, outcomes: Sequence[Outcome], absent: Collection[str], stop_reason: str, stopped_after: int | None
    ) -> RuleValues:
        """Returns the current and required values of the stopping rule; empty without a rule.

        Args:
            outcomes: counted outcomes of the environment.
            absent: policies that the rule ignores.
            stop_reason: as for ``leaderboard``.
            stopped_after: as for ``leaderboard``.
        """
        return RuleValues()

    @abstractmethod
    def idle_stop_note(self, said: Collection[str]) -> str:
        """Returns a note on stopping settings of the run that have no effect; empty if all have one.

        Args:
            said: names of the settings, at least one.
        """

    def own(self, outcomes: Iterable[Outcome]) -> list[Outcome]:
        """Returns the outcomes of the environment, with their agents filled in."""
        return [self._seated(outcome) for outcome in outcomes if outcome.environment == self.setting.environment]

    def _seated(self, outcome: Outcome) -> Outcome:
        """Adds the agents to an outcome without them: the record of a void match may have only the policies."""
        if all(seat.agent for seat in outcome.seats):
            return outcome
        rated = self.setting.declaration.is_rated
        seats = zip(outcome.seats, self.agents(len(outcome.seats)), strict=True)
        return replace(outcome, seats=tuple(replace(seat, agent=agent, rated=rated(agent)) for seat, agent in seats))

    def agents(self, count: int) -> tuple[str, ...]:
        """Returns the seats of a match with ``count`` seats."""
        return self.setting.agents

    def staff(self) -> Mapping[int, str]:
        """Returns the staff policy of each unrated seat, by seat index.

        Raises:
            OptionError: if the staff of the run does not fit the environment.
        """
        setting = self.setting
        return seat_staff(setting.environment, setting.agents, setting.declaration, setting.staff)

    def check(self) -> None:
        """Checks requirements specific to the scheme.

        Raises:
            OptionError: if the setting does not meet them.
        """
        self.expect_no("opponent", "since policies are rated by playing each other here")
        self.expect_no("value", "since only the schemes 'field' and 'mean_reward' average a statistic")

    def expect_no(self, key: str, reason: str) -> None:
        """Checks that the run does not set a key of the environment.

        Raises:
            OptionError: if it does.
        """
        got = getattr(self.setting, key)
        if got:
            raise OptionError(f"{self.setting.environment}: {key}: expected none, {reason}; got {got!r}")

    @abstractmethod
    def least_policies(self, seats: int) -> int:
        """Returns the minimum number of policies for ``seats`` rated seats."""

    @property
    def meet(self) -> bool:
        """Whether policies play against each other: rivals on two or more rated seats."""
        return self.rivals and sum(map(self.setting.declaration.is_rated, self.setting.agents)) > 1

    def cases(self, outcomes: Sequence[Outcome]) -> list[DealResult]:
        """Returns the results of policies, by part, for comparisons of means on common deals.

        Args:
            outcomes: of this environment, with their agents.
        """
        return reward_cases(outcomes)

    @abstractmethod
    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> Leaderboard:
        """Makes the leaderboard from the outcomes of this environment."""

    @abstractmethod
    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the figures of a leaderboard made from these outcomes."""

    def comparisons(self, outcomes: Sequence[Outcome]) -> Comparisons | None:
        """Returns the results of pairs behind the ratings of the leaderboard; ``None`` if it has no ratings."""
        return None

    def places(self, played: Sequence[Outcome]) -> list[Places]:
        """Returns the ways to group seats in which a place may be an advantage.

        Args:
            played: finished matches with two or more rated seats, at least one.
        """
        verdicts = self.setting.declaration.verdicts
        return [SEATS, *([sides(verdicts)] if verdicts and verdicts.side else [])]


def seat_staff(
    environment: str, agents: Sequence[str], declaration: Declaration, staff: Mapping[str, Sequence[str]]
) -> dict[int, str]:
    """Returns the policy on each unrated seat, by seat index.

    The policies of a role are cycled over its seats: seat ``judge_k`` gets policy k modulo their number.

    Args:
        environment: module name, for messages.
        agents: every seat.
        declaration: of the environment.
        staff: policies of each role, from the run file.

    Raises:
        OptionError: if a role has no policy or more policies than seats, or is not a staff role.
    """
    seats = {seat: agent for seat, agent in enumerate(agents) if not declaration.is_rated(agent)}
    if len(seats) == len(agents):
        raise OptionError(
            f"{environment}: expected seats with one of the roles {declaration.rated_roles}, got {agents}"
        )
    roles = sorted({role_of(agent) for agent in seats.values()})
    for role in staff:
        if not roles:
            raise OptionError(f"{environment}: staff: expected none, since every seat is rated here, got {role!r}")
        check_choice(f"{environment}: staff", role, roles)
        count = sum(role_of(agent) == role for agent in seats.values())
        if len(staff[role]) > count:
            raise OptionError(
                f"{environment}: staff: expected as many policies as there are seats of {role} or fewer ({count}),"
                f" got {len(staff[role])}"
            )
    missing = [role for role in roles if not staff.get(role)]
    if missing:
        example = "\n".join(f'{role} = ["random"]' for role in missing)
        raise OptionError(
            f"{environment}: expected policies for the roles that are not rated ({', '.join(missing)}); write below its"
            f" [[environment]], with policies of your choice:\n[environment.staff]\n{example}"
        )
    return {seat: staff[role_of(agent)][_number(agent) % len(staff[role_of(agent)])] for seat, agent in seats.items()}


def _number(agent: str) -> int:
    """Returns the number in an agent's id; 0 for a bare role."""
    number = agent.rpartition("_")[2]
    return int(number) if number.isdecimal() and role_of(agent) != agent else 0
