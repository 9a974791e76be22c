"""The scheme interface: how the policies of one environment are scheduled and compared.

``Scheme`` holds what all schemes share. ``Repeating`` adds an endless schedule with a stopping rule; a new way of comparing is
usually one subclass of it, passed to ``rating.schemes.registry.register``.
"""

import itertools
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

from llmarena_envs.core.options import OptionError
from rating.schedules.adaptive import Adaptive
from rating.schedules.batches import BATCH_MATCHES, Contest, Schedule, Stop, deal_seed, even_batch
from rating.schedules.round_robin import seating
from rating.schedules.until import Phases, Source, Until, with_newcomers
from rating.schemes.caveats import add_caveats, counted
from rating.schemes.figures import Figure
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.seat_groups import SEATS, SeatGroups, sides
from rating.schemes.setting import ADAPTIVE, ROUND_ROBIN, Setting, seat_staff
from rating.schemes.stopping import (
    FIRST_MATCHES,
    LEAST_MATCHES,
    LEAST_RATED,
    PAUSED,
    CountRule,
    RuleValues,
    SettlingRule,
    StoppingRule,
    StopRule,
    fold_values,
    no_information,
)
from rating.schemes.true_scores import judged_works, with_true_scores
from rating.stats.bradley_terry import Comparisons
from rating.stats.design import Design
from rating.stats.simultaneous import DealResult, reward_cases
from rating.store.records import Match, Outcome, SeatOutcome


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
        places_newcomers: whether its schedule places added policies; otherwise they play in a phase of their own.
        with_seats: name of the scheme of a run that assigns the seats; empty for this one.

    Raises:
        OptionError: if the scheme does not fit the environment and the policies of the run.
    """

    name: ClassVar[str]
    can_adapt: ClassVar[bool] = False
    standard_schedule: ClassVar[str] = ROUND_ROBIN
    rivals: ClassVar[bool] = False
    parts_add_up: ClassVar[bool] = False
    places_newcomers: ClassVar[bool] = False
    with_seats: ClassVar[str] = ""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._seats = len(setting.environment.rated_agents)
        policies, least = setting.pool.policies, self.least_policies(self._seats)
        if len(policies) < least:
            raise OptionError(
                f"{setting.environment.name}: expected {least} policies or more, got {list(policies)}; name more with [[policy]]"
            )
        if setting.schedule == ADAPTIVE and not self.can_adapt:
            raise OptionError(
                f"{setting.environment.name}: schedule: expected {ROUND_ROBIN!r}, since policies are compared by {self.name!r}"
                f" here, which has no other; got {setting.schedule!r}"
            )
        self._contest = Contest(
            setting.environment.name,
            policies,
            self._seats,
            setting.environment.options,
            setting.seed,
            batch=min(BATCH_MATCHES, setting.stopping.rule.max_matches),
            staff=self.staff(),
            by_deal=setting.environment.by_deal,
        )
        self.check()

    # Methods to override.

    @abstractmethod
    def schedule(self) -> Schedule:
        """Returns a new schedule."""

    @abstractmethod
    def board(self, outcomes: Sequence[Outcome], stop_reason: str = "") -> Leaderboard:
        """Makes the leaderboard from the outcomes of this environment."""

    @abstractmethod
    def idle_stop_note(self, said: Collection[str]) -> str:
        """Returns a note on stopping settings of the run that have no effect; empty if all have one.

        Args:
            said: names of the settings, at least one.
        """

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the figures of a leaderboard made from these outcomes."""
        return []

    def least_policies(self, seats: int) -> int:
        """Returns the minimum number of policies for ``seats`` rated seats."""
        return seats

    def check(self) -> None:
        """Checks requirements specific to the scheme.

        Raises:
            OptionError: if the setting does not meet them.
        """
        self.expect_no("opponent", self.setting.pool.opponent, "since policies are rated by playing each other here")
        self.expect_no_value()

    def cases(self, outcomes: Sequence[Outcome]) -> list[DealResult]:
        """Returns the results of policies, by part, for comparisons of means on common deals.

        Args:
            outcomes: of this environment, with their agents.
        """
        return reward_cases(outcomes)

    def comparisons(self, outcomes: Sequence[Outcome]) -> Comparisons | None:
        """Returns the results of pairs behind the ratings of the leaderboard; ``None`` if it has no ratings."""
        return None

    def seat_groups(self, played: Sequence[Outcome]) -> list[SeatGroups]:
        """Returns the ways to group seats in which a group may have an advantage.

        Args:
            played: finished matches with two or more rated seats, at least one.
        """
        verdicts = self.setting.environment.declaration.verdicts
        return [SEATS, *([sides(verdicts)] if verdicts and verdicts.side else [])]

    def rule_values(
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

    def expected_matches(self) -> int | None:
        """Returns the number of matches of the schedule; ``None`` if it depends on outcomes."""
        return None

    @property
    def first_matches(self) -> int:
        """Number of matches after which an uninformative game is paused."""
        return FIRST_MATCHES

    def agents(self, count: int) -> tuple[str, ...]:
        """Returns the seats of a match with ``count`` seats."""
        return self.setting.environment.agents

    def staff(self) -> Mapping[int, str]:
        """Returns the staff policy of each unrated seat, by seat index.

        Raises:
            OptionError: if the staff of the run does not fit the environment.
        """
        return seat_staff(self.setting.environment, self.setting.environment.agents, self.setting.pool.staff)

    # Methods shared by all schemes.

    def leaderboard(
        self,
        outcomes: Iterable[Outcome],
        stop_reason: str = "",
        *,
        scheduled: int | None = None,
        stopped_after: int | None = None,
        absent: Mapping[str, str] = MappingProxyType({}),
    ) -> Leaderboard:
        """Makes the leaderboard with its caveats.

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
        values = self.rule_values(scored, absent.keys(), stop_reason, stopped_after)
        board = self.board(scored, stop_reason)
        if truths := self.setting.environment.declaration.truths:
            names = " or ".join(truth.name for truth in truths)
            board = with_true_scores(board, judged_works(scored, truths), names)
        return add_caveats(
            replace(
                board,
                references=dict(self.setting.environment.references),
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

    def no_information(self, outcomes: Iterable[Outcome]) -> str:
        """Returns why the first matches do not separate the policies; empty if they do."""
        return no_information(self.own(outcomes), self.first_matches, rivals=self.rivals)

    def own(self, outcomes: Iterable[Outcome]) -> list[Outcome]:
        """Returns the outcomes of the environment, with their agents filled in."""
        return [self._seated(outcome) for outcome in outcomes if outcome.environment == self.setting.environment.name]

    def _seated(self, outcome: Outcome) -> Outcome:
        """Adds the agents to an outcome without them: the record of a void match may have only the policies."""
        if all(seat.agent for seat in outcome.seats):
            return outcome
        rated = self.setting.environment.declaration.is_rated
        seats = zip(outcome.seats, self.agents(len(outcome.seats)), strict=True)
        return replace(outcome, seats=tuple(replace(seat, agent=agent, rated=rated(agent)) for seat, agent in seats))

    @property
    def meet(self) -> bool:
        """Whether policies play against each other: rivals on two or more rated seats."""
        return self.rivals and self._seats > 1

    def expect_no(self, key: str, got: object, reason: str) -> None:
        """Checks that the run does not set a key of the environment.

        Raises:
            OptionError: if it does.
        """
        if got:
            raise OptionError(f"{self.setting.environment.name}: {key}: expected none, {reason}; got {got!r}")

    def expect_no_value(self) -> None:
        """Checks that the run averages no statistic.

        Raises:
            OptionError: if it does.
        """
        reason = "since only the schemes 'field' and 'mean_reward' average a statistic"
        self.expect_no("value", self.setting.value, reason)


class Repeating(Scheme):
    """A scheme that schedules matches until a stopping rule fires; arguments as ``Scheme``."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        if setting.tournament is not None:
            raise OptionError(
                f"{setting.environment.name}: tournament: expected no rules of one, since policies are compared by {self.name!r}"
                ' here; for a tournament write: scheme = "tournament"'
            )
        if setting.pool.seats:
            self._check_seats()

    # Methods to override.

    @abstractmethod
    def batches(self, contest: Contest) -> Iterator[list[Match]]:
        """Returns the endless schedule of a contest, usually a function of ``rating.schedules``."""

    def rule(self, contest: Contest) -> StoppingRule:
        """Returns the stopping rule; by default a number of matches of each policy."""
        return self.count_rule()

    def cycle(self, contest: Contest) -> tuple[int, int]:
        """Returns the number of each policy's matches in a cycle: those that the rule counts, and all."""
        return 1, 1

    def has_choice(self, contest: Contest) -> bool:
        """Returns whether tables can be chosen: not in single-seat games, nor if every policy sits at every table."""
        return 1 < contest.seats < len(contest.policies)

    # Methods shared by these schemes.

    def count_rule(self, *, counted: int = 1, scheduled: int = 1, opponent: str = "") -> CountRule:
        """Returns the rule for a fixed number of matches.

        Args:
            counted: matches of a policy per match of the required kind.
            scheduled: the same, including all matches that the schedule adds.
            opponent: as in ``CountRule``.
        """
        limit = self.setting.stopping.rule.max_matches
        return CountRule(min(self.setting.stopping.matches, limit) * counted, limit * scheduled, opponent)

    def mean_rule(
        self, counted: Callable[[Outcome], Sequence[SeatOutcome]], opponent: str = ""
    ) -> CountRule | SettlingRule:
        """Returns the rule for means: precise enough if the run sets a half-width, else a number of matches.

        Args:
            counted: returns the seats of a finished match that count.
            opponent: as in ``CountRule``.
        """
        stopping = self.setting.stopping
        if stopping.half_width is None:
            return self.count_rule(opponent=opponent)
        least, most = stopping.rule.min_matches or LEAST_MATCHES, stopping.rule.max_matches
        return SettlingRule(stopping.half_width, counted, self.setting.value, least, most, opponent)

    def end(self, contest: Contest | None = None) -> StoppingRule:
        """Returns the stopping rule: a number of matches if the run assigns the seats, else the rule of the scheme."""
        matches = self.setting.stopping.matches
        return CountRule(matches, matches) if self.setting.pool.seats else self.rule(contest or self._contest)

    def schedule(self) -> Schedule:
        """Returns a new schedule."""
        pool = self.setting.pool
        pools = [pool.founders, *pool.newcomers]
        phases = [self._phase(pools[: index + 1]) for index in range(len(pools))]
        schedule = Phases(phases) if pool.newcomers else phases[0]
        for policy in sorted(pool.withdrawn):
            schedule.leave_out(policy)
        return schedule

    def expected_matches(self) -> int | None:
        """Returns the number of matches of the schedule; ``None`` if it depends on outcomes."""
        if not isinstance(self.end(), CountRule) or self.setting.schedule == ADAPTIVE:
            return None
        schedule, matches = self.schedule(), 0
        while not isinstance(batch := schedule.next_batch(), Stop):
            matches += len(batch)
            schedule.add([])
        return matches

    def rule_values(
        self, outcomes: Sequence[Outcome], absent: Collection[str], stop_reason: str, stopped_after: int | None
    ) -> RuleValues:
        """Returns the values of the rule; if policies were added, for the last newcomers."""
        newcomers = self.setting.pool.newcomers[-1] if self.setting.pool.newcomers else ()
        policies = newcomers or self.setting.pool.policies
        if set(policies) <= set(absent):
            return RuleValues()
        values = fold_values(outcomes, policies, self.end(), absent, stop_reason, stopped_after)
        return RuleValues(
            *(f"{', '.join(newcomers)} among the others: {text}" if newcomers and text else text for text in values)
        )

    def idle_stop_note(self, said: Collection[str]) -> str:
        """Returns a note if the run sets a rule for rated games that the scheme does not use."""
        if "rule" not in said or isinstance(self.end(), StopRule):
            return ""
        return (
            f"the stop rule {self.setting.stopping.rule.rule!r} has no effect where no ratings are waited for (scheme"
            f" {self.name!r}); see matches and half_width"
        )

    def _phase(self, pools: Sequence[tuple[str, ...]]) -> Until:
        """Returns the schedule of the last of these pools, against all policies present by then."""
        setting, newcomers, phase = self.setting, pools[-1], len(pools) - 1
        begun = setting.begun
        contest = replace(self._contest, policies=tuple(itertools.chain(*pools)))
        rule = self.end(contest)
        contest = replace(contest, batch=self._batch(contest, rule))
        bounds = (0, *begun.starts)
        has_ended, is_followed = phase + 1 < len(bounds), phase < len(setting.pool.newcomers)
        batches: Source | Iterator[list[Match]]
        if setting.schedule == ADAPTIVE and self.has_choice(contest):
            end = bounds[phase + 1] if has_ended else None
            recorded = begun.seats[bounds[phase] : end] if phase < len(bounds) else ()
            batches = self._adaptive(contest, rule, newcomers, recorded, is_over=has_ended)
            rule = replace(rule, max_matches=sys.maxsize)  # the adaptive schedule enforces it per policy
        elif setting.pool.seats:
            batches = seating(contest, setting.pool.seats)
        else:
            batches = self.batches(contest)
            if phase:
                batches = with_newcomers(contest, batches, newcomers)
        return Until(
            replace(contest, policies=newcomers),
            batches,
            rule.begin(newcomers),
            setting.ahead,
            matches=bounds[phase + 1] - bounds[phase] if has_ended else None,
            begun=begun.count - bounds[phase] if is_followed and phase + 1 == len(bounds) else 0,
        )

    def _batch(self, contest: Contest, rule: StoppingRule) -> int:
        """Returns the batch size that suits a rule."""
        if isinstance(rule, CountRule):
            cycle, played = (1, 1) if self.setting.pool.seats else self.cycle(contest)
            return played * even_batch(min(rule.matches, rule.max_matches), cycle) // cycle
        if isinstance(rule, StopRule) and len(contest.policies) == 2:  # a single pair is resolved quickly
            return min(LEAST_RATED, contest.batch)
        return contest.batch

    def _adaptive(
        self,
        contest: Contest,
        rule: StoppingRule,
        under_test: Sequence[str],
        recorded: Sequence[Sequence[str]],
        *,
        is_over: bool,
    ) -> Adaptive:
        """Returns the batches of an adaptive schedule; arguments as ``Adaptive``."""
        known = self.setting.pool.prices()
        prices = {name: price for name, price in known.items() if price}
        return Adaptive(
            contest,
            Design(
                len(contest.policies),
                meetings=contest.seats,
                seed=deal_seed(contest.seed, f"choices/{contest.environment}", 0),
                seat_term=contest.seats == 2,
            ),
            under_test=under_test,
            least=rule.least,
            most=rule.max_matches,
            prices=prices if len(prices) == len(known) else {},
            recorded=[contest.rated(policies) for policies in recorded],
            is_over=is_over,
        )

    def _check_seats(self) -> None:
        """Checks the seats assigned by the run.

        Raises:
            OptionError: if they do not fit the environment, its pool, or the scheme.
        """
        pool, seats = self.setting.pool, self.setting.pool.seats
        where = f"{self.setting.environment.name}: seats: expected"
        if len(seats) != self._seats or {*seats} != {*pool.policies}:
            raise OptionError(
                f"{where} a policy for each of {self._seats} seats, and every one of {list(pool.policies)} on a seat; got"
                f" {list(seats)}"
            )
        if self.rivals and len({*seats}) < len(seats):
            raise OptionError(
                f"{where} different policies, since they are compared by {self.name!r}; got {list(seats)}"
            )
        if self.setting.schedule == ADAPTIVE or pool.newcomers:
            raise OptionError(f"{where} none where the schedule is adaptive or policies were added; got {list(seats)}")
