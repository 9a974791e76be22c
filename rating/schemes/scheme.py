"""The interface of schemes: one object for one environment of a run, which says what is compared and how."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.options import OptionError
from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.schedules.batches import BATCH_MATCHES, Contest, even_batch
from rating.schedules.schedule import Schedule
from rating.schedules.until import Until
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.settling import SettlingRule
from rating.schemes.staff import seat_staff
from rating.schemes.standstill import StandstillRule
from rating.schemes.stopping import CountRule, StopRule


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a scheme is made from: an environment, and what the run says of it.

    Attributes:
        environment: module name.
        agents: its seats.
        declaration: what it says of itself.
        policies: names of the policies that are compared.
        options: constructor options.
        seed: root seed of the run.
        by_deal: values of options that change from deal to deal.
        staff: names of the policies of each role that is not rated.
        opponent: name of the fixed policy on the seats that are not under test; empty for the standard.
        stop: when ratings suffice.
        matches: of each policy where nothing is rated by TrueSkill.
        ahead: batches by which play may run ahead of the stop rule.
        references: values to compare with, by what they are.
        value: statistic of the environment that is averaged among a field; empty for none.
        half_width: of the 95 % intervals of means, at which enough has been played; ``None`` for a number of matches.
        still: change of means over ``stop.window`` matches, below which enough has been played; ``None`` for a number of matches.
    """

    environment: str
    agents: tuple[str, ...]
    declaration: Declaration
    policies: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    by_deal: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seed: int = 0
    staff: Mapping[str, Sequence[str]] = field(default_factory=dict)
    opponent: str = ""
    stop: StopRule = field(default_factory=StopRule)
    matches: int = 100
    ahead: int = 2
    references: Mapping[str, float] = field(default_factory=dict)
    value: str = ""
    half_width: float | None = None
    still: float | None = None


class Scheme(ABC):
    """A way of comparing policies, for one environment of a run.

    Args:
        setting: the environment, and what the run says of it.

    Attributes:
        name: what environments call the scheme in their declaration.

    Raises:
        OptionError: if the environment cannot be compared this way with the policies of the run.
    """

    name: ClassVar[str]

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        environment, declaration = setting.environment, setting.declaration
        staff = seat_staff(environment, setting.agents, declaration, setting.staff)
        self._rated = tuple(declaration.is_rated(agent) for agent in setting.agents)
        if len(setting.policies) < self.least_policies(sum(self._rated)):
            raise OptionError(
                f"{environment}: expected {self.least_policies(sum(self._rated))} policies or more, got"
                f" {list(setting.policies)}; name more with [[policy]]"
            )
        self._contest = Contest(
            environment,
            setting.policies,
            sum(self._rated),
            setting.options,
            setting.seed,
            batch=min(BATCH_MATCHES, setting.stop.max_matches),
            staff=staff,
            by_deal=setting.by_deal,
        )
        self.check()
        rule = self.rule()
        if isinstance(rule, CountRule):
            cycles, played = self.cycle()
            self._contest = replace(
                self._contest, batch=played * even_batch(min(rule.matches, rule.max_matches), cycles) // cycles
            )
        elif isinstance(rule, StandstillRule):  # asked as often as it could answer otherwise
            self._contest = replace(self._contest, batch=min(rule.stableness.window, self._contest.batch))

    def schedule(self) -> Schedule:
        """Returns the schedule, before its first match."""
        return Until(self._contest, self.batches(), self.rule().begin(self.setting.policies), self.setting.ahead)

    def leaderboard(self, outcomes: Iterable[Outcome], stop_reason: str = "") -> Leaderboard:
        """Makes the leaderboard.

        Args:
            outcomes: those of the environment are taken, in any order, void ones included; at least one.
            stop_reason: why no more matches were played.

        Raises:
            ValueError: if there are no outcomes.
        """
        own = [self._seated(outcome) for outcome in outcomes if outcome.environment == self.setting.environment]
        return self.board(own, stop_reason)

    def _seated(self, outcome: Outcome) -> Outcome:
        """Says which seat is whose where the record does not: that of a void match may know the policies only."""
        if all(seat.agent for seat in outcome.seats):
            return outcome
        seats = zip(outcome.seats, self.setting.agents, self._rated, strict=True)
        return replace(outcome, seats=tuple(replace(seat, agent=agent, rated=rated) for seat, agent, rated in seats))

    def check(self) -> None:
        """Checks what is particular to the scheme.

        Raises:
            OptionError: if the setting does not suit it.
        """
        self.expect_no("opponent", "since policies are rated by playing each other here")
        self.expect_no("value", "since only the scheme 'field' averages a statistic")

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

    @abstractmethod
    def batches(self) -> Iterator[list[Match]]:
        """Returns what is played, without end."""

    def cycle(self) -> tuple[int, int]:
        """Returns how many matches of each policy in a cycle of the schedule the rule counts, and how many there are."""
        return 1, 1

    @abstractmethod
    def rule(self) -> StopRule | CountRule | SettlingRule | StandstillRule:
        """Returns when to stop."""

    @abstractmethod
    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> Leaderboard:
        """Makes the leaderboard of the outcomes of this environment."""

    def count_rule(self, *, counted: int = 1, scheduled: int = 1, opponent: str = "") -> CountRule:
        """Returns the rule for a fixed number of matches.

        Args:
            counted: matches of a policy among which one is of the kind that is to be played so often.
            scheduled: the same, with all that the schedule makes it play besides.
            opponent: as in ``CountRule``.
        """
        limit = self.setting.stop.max_matches
        return CountRule(min(self.setting.matches, limit) * counted, limit * scheduled, opponent)
