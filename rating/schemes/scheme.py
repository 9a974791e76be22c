"""The interface of schemes: one object for one environment of a run, which says what is compared and how."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import OptionError
from rating.accounting.prices import Price
from rating.records.outcome import Outcome
from rating.schedules.batches import BATCH_MATCHES, Contest
from rating.schedules.schedule import Schedule
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.pause import FIRST_MATCHES, PAUSED, no_information
from rating.schemes.reservations import counted, reserve
from rating.schemes.staff import seat_staff
from rating.schemes.stopping import RuleValues, StopRule
from rating.schemes.tournament_rules import TournamentRules
from rating.statistics.paired_means import DealResult, reward_cases

ROUND_ROBIN = "round_robin"
"""The schedule that goes through the same matches again and again, as every scheme has one."""

ADAPTIVE = "adaptive"
"""The schedule that chooses who meets whom from the results so far."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a scheme is made from: an environment, and what the run says of it.

    Attributes:
        environment: module name.
        agents: its seats.
        declaration: what it says of itself.
        policies: names of the policies that are compared, those who came first before the others.
        options: constructor options.
        takes: names of the constructor options that the environment has.
        seed: root seed of the run.
        by_deal: values of options that change from deal to deal.
        staff: names of the policies of each role that is not rated.
        seats: policies on the rated seats of every match; empty where the scheme seats them.
        opponent: name of the fixed policy on the seats that are not under test; empty for the standard.
        stop: when ratings suffice.
        matches: of each policy where nothing is rated by TrueSkill.
        ahead: batches by which play may run ahead of the stop rule.
        schedule: ``round_robin`` or ``adaptive``.
        recorded: policies on the seats of each match that was begun in earlier sessions, by number; only of an adaptive schedule.
        references: values to compare with, by what they are.
        value: statistic of the environment that is averaged by the schemes ``field`` and ``mean_reward``; empty for none.
        half_width: of the 95 % intervals of means, at which enough has been played; ``None`` for a number of matches.
        tournament: rules of a tournament; ``None`` for the standard ones.
        max_fallbacks: share of turns played for a policy above which its rating is withheld.
        newcomers: those of the policies that came later, phase by phase.
        starts: number of the first match of each of their phases that has begun.
        begun: number of matches that were begun in earlier sessions.
        withdrawn: those of the policies that play no more.
        prices: returns the price of each policy that asks a model, ``None`` if it has none; called for adaptive schedules only.
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
        """Those of the policies that were there from the beginning."""
        return self.policies[: len(self.policies) - sum(map(len, self.newcomers))]


class Scheme(ABC):
    """A way of comparing policies, for one environment of a run.

    Args:
        setting: the environment, and what the run says of it.

    Attributes:
        name: what environments call the scheme in their declaration.
        can_adapt: whether it has an adaptive schedule.
        standard_schedule: ``adaptive`` where it has the choice by default, else ``round_robin``.
        rivals: whether the rated policies of a match are rivals, so that of two the one with the larger reward has won.
        parts_add_up: whether the parts of ``cases`` together are a result as well, each counting alike.

    Raises:
        OptionError: if the environment cannot be compared this way with the policies of the run.
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
        """Returns the schedule, before its first match."""

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
            outcomes: those of the environment are taken, in any order, void ones included; at least one.
            stop_reason: why no more matches were played.
            scheduled: number of matches after which the schedule ended, those behind it are left out; ``None`` while it goes
                on.
            stopped_after: number of matches whose outcomes the stop rule had when it fired; ``None`` while it goes on.
            absent: why policies were not asked any more, by name.

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
        """Number of matches after which a game without information is paused."""
        return FIRST_MATCHES

    def no_information(self, outcomes: Iterable[Outcome]) -> str:
        """Says why the first matches do not tell the policies apart; empty if they do."""
        return no_information(self.own(outcomes), self.first_matches, rivals=self.rivals)

    def values(
        self, outcomes: Sequence[Outcome], absent: Collection[str], stop_reason: str, stopped_after: int | None
    ) -> RuleValues:
        """Returns the values of the stop rule beside those it asks for; empty without a rule.

        Args:
            outcomes: those of the environment that count.
            absent: policies that are not waited for.
            stop_reason: as for ``leaderboard``.
            stopped_after: as for ``leaderboard``.
        """
        return RuleValues()

    @abstractmethod
    def idle_stop_note(self, said: Collection[str]) -> str:
        """Says what the run says of stopping to no effect; nothing where all of it has one.

        Args:
            said: names of what it says, one at least.
        """

    def own(self, outcomes: Iterable[Outcome]) -> list[Outcome]:
        """Returns the outcomes of the environment, each of which knows its seats."""
        return [self._seated(outcome) for outcome in outcomes if outcome.environment == self.setting.environment]

    def _seated(self, outcome: Outcome) -> Outcome:
        """Says which seat is whose where the record does not: that of a void match may know the policies only."""
        if all(seat.agent for seat in outcome.seats):
            return outcome
        rated = self.setting.declaration.is_rated
        seats = zip(outcome.seats, self.agents(len(outcome.seats)), strict=True)
        return replace(outcome, seats=tuple(replace(seat, agent=agent, rated=rated(agent)) for seat, agent in seats))

    def agents(self, count: int) -> tuple[str, ...]:
        """Returns the seats of a match that has ``count`` of them."""
        return self.setting.agents

    def staff(self) -> Mapping[int, str]:
        """Returns who serves in every match, by the index of the seat.

        Raises:
            OptionError: if the run does not say it as the environment needs it.
        """
        setting = self.setting
        return seat_staff(setting.environment, setting.agents, setting.declaration, setting.staff)

    def check(self) -> None:
        """Checks what is particular to the scheme.

        Raises:
            OptionError: if the setting does not suit it.
        """
        self.expect_no("opponent", "since policies are rated by playing each other here")
        self.expect_no("value", "since only the schemes 'field' and 'mean_reward' average a statistic")

    def expect_no(self, key: str, reason: str) -> None:
        """Checks that the run leaves a key of the environment out.

        Raises:
            OptionError: if it does not.
        """
        got = getattr(self.setting, key)
        if got:
            raise OptionError(f"{self.setting.environment}: {key}: expected none, {reason}; got {got!r}")

    @abstractmethod
    def least_policies(self, seats: int) -> int:
        """Returns how many policies are needed for ``seats`` rated seats."""

    @property
    def meet(self) -> bool:
        """Whether policies play against each other: rivals at tables of two and more."""
        return self.rivals and sum(map(self.setting.declaration.is_rated, self.setting.agents)) > 1

    def cases(self, outcomes: Sequence[Outcome]) -> list[DealResult]:
        """Returns the results of policies, by part, for comparisons of means on common deals.

        Args:
            outcomes: of this environment, with their agents.
        """
        return reward_cases(outcomes)

    @abstractmethod
    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> Leaderboard:
        """Makes the leaderboard of the outcomes of this environment."""
