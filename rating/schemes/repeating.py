"""Schemes with an endless schedule and a stopping rule."""

import itertools
import sys
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from llmarena_envs.core.options import OptionError
from rating.schedules.adaptive import Adaptive
from rating.schedules.batches import Schedule, deal_seed, even_batch
from rating.schedules.round_robin import seating
from rating.schedules.until import Phases, Source, Until, with_newcomers
from rating.schemes.base import ADAPTIVE, Scheme, Setting
from rating.schemes.stopping import LEAST_RATED, CountRule, RuleValues, SettlingRule, StopRule, fold_values
from rating.stats.design import Design
from rating.store.match import Match
from rating.store.outcome import Outcome


class Repeating(Scheme):
    """A scheme that schedules matches until a stopping rule fires; arguments as ``Scheme``."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        if setting.tournament is not None:
            raise OptionError(
                f"{setting.environment}: tournament: expected no rules of one, since policies are compared by {self.name!r} here;"
                ' for a tournament write: scheme = "tournament"'
            )
        if setting.seats:
            self._check_seats()
        rule = self.end()
        if isinstance(rule, CountRule):
            cycles, played = (1, 1) if setting.seats else self.cycle()
            self._contest = replace(
                self._contest, batch=played * even_batch(min(rule.matches, rule.max_matches), cycles) // cycles
            )
        elif isinstance(rule, StopRule) and len(setting.policies) == 2:  # a single pair is resolved quickly
            self._contest = replace(self._contest, batch=min(LEAST_RATED, self._contest.batch))

    def schedule(self) -> Schedule:
        """Returns a new schedule."""
        setting = self.setting
        pools = [setting.founders, *setting.newcomers]
        phases = [self._phase(pools[: index + 1]) for index in range(len(pools))]
        schedule = Phases(phases) if setting.newcomers else phases[0]
        for policy in sorted(setting.withdrawn):
            schedule.leave_out(policy)
        return schedule

    def _phase(self, pools: Sequence[tuple[str, ...]]) -> Until:
        """Returns the schedule of the last of these pools, against all policies present by then."""
        setting, newcomers, phase = self.setting, pools[-1], len(pools) - 1
        present = tuple(itertools.chain(*pools))
        own = type(self)(
            replace(setting, policies=present, newcomers=(), starts=(), withdrawn=frozenset(), opponent=self.opponent())
        )
        bounds = (0, *setting.starts)
        has_ended, is_followed = phase + 1 < len(bounds), phase < len(setting.newcomers)
        rule = own.end()
        batches: Source | Iterator[list[Match]]
        if setting.schedule == ADAPTIVE and own.has_choice():
            end = bounds[phase + 1] if has_ended else None
            recorded = setting.recorded[bounds[phase] : end] if phase < len(bounds) else ()
            batches = own.adaptive(newcomers, recorded, is_over=has_ended)
            rule = replace(rule, max_matches=sys.maxsize)  # the adaptive schedule enforces it per policy
        elif setting.seats:
            batches = seating(own._contest, setting.seats)
        else:
            batches = own.batches()
            if phase:
                batches = with_newcomers(own._contest, batches, newcomers)
        return Until(
            replace(own._contest, policies=newcomers),
            batches,
            rule.begin(newcomers),
            setting.ahead,
            matches=bounds[phase + 1] - bounds[phase] if has_ended else None,
            begun=setting.begun - bounds[phase] if is_followed and phase + 1 == len(bounds) else 0,
        )

    def has_choice(self) -> bool:
        """Returns whether tables can be chosen: not in single-seat games, nor if every policy sits at every table."""
        return 1 < self._contest.seats < len(self._contest.policies)

    def adaptive(
        self, under_test: Sequence[str], recorded: Sequence[Sequence[str]] = (), *, is_over: bool = False
    ) -> Adaptive:
        """Returns the adaptive schedule's batches.

        Args:
            under_test: policies to resolve; every table has at least one.
            recorded: policies on the seats of the matches begun in earlier sessions.
            is_over: whether to stop after the recorded matches.
        """
        contest, rule = self._contest, self.rule()
        asked = self.setting.prices()
        prices = {name: price for name, price in asked.items() if price}
        design = Design(
            len(contest.policies),
            meetings=contest.seats,
            seed=deal_seed(contest.seed, f"choices/{contest.environment}", 0),
            seat_term=contest.seats == 2,
        )
        return Adaptive(
            contest,
            design,
            under_test=under_test,
            least=rule.matches if isinstance(rule, CountRule) else rule.begin(under_test).least,
            most=rule.max_matches,
            prices=prices if len(prices) == len(asked) else {},
            recorded=[contest.rated(policies) for policies in recorded],
            is_over=is_over,
        )

    def opponent(self) -> str:
        """Returns the fixed policy on seats that are not under test, also for newcomers; empty for the standard."""
        return self.setting.opponent

    def values(
        self, outcomes: Sequence[Outcome], absent: Collection[str], stop_reason: str, stopped_after: int | None
    ) -> RuleValues:
        """Returns the values of the rule; if policies were added, for the last newcomers."""
        newcomers = self.setting.newcomers[-1] if self.setting.newcomers else ()
        policies = newcomers or self.setting.policies
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
            f"the stop rule {self.setting.stop.rule!r} has no effect where no ratings are waited for (scheme {self.name!r}); see"
            " matches and half_width"
        )

    def end(self) -> StopRule | CountRule | SettlingRule:
        """Returns the stopping rule: a number of matches if the run assigns the seats, else the rule of the scheme."""
        matches = self.setting.matches
        return CountRule(matches, matches) if self.setting.seats else self.rule()

    def _check_seats(self) -> None:
        """Checks the seats assigned by the run.

        Raises:
            OptionError: if they do not fit the environment, its pool, or the scheme.
        """
        setting, seats = self.setting, self.setting.seats
        where = f"{setting.environment}: seats: expected"
        if len(seats) != self._contest.seats or {*seats} != {*setting.policies}:
            raise OptionError(
                f"{where} a policy for each of {self._contest.seats} seats, and every one of {list(setting.policies)} on a seat;"
                f" got {list(seats)}"
            )
        if self.rivals and len({*seats}) < len(seats):
            raise OptionError(
                f"{where} different policies, since they are compared by {self.name!r}; got {list(seats)}"
            )
        if setting.schedule == ADAPTIVE or setting.newcomers:
            raise OptionError(f"{where} none where the schedule is adaptive or policies were added; got {list(seats)}")

    @abstractmethod
    def batches(self) -> Iterator[list[Match]]:
        """Returns the endless schedule."""

    def cycle(self) -> tuple[int, int]:
        """Returns the number of each policy's matches in a cycle: those that the rule counts, and all."""
        return 1, 1

    @abstractmethod
    def rule(self) -> StopRule | CountRule | SettlingRule:
        """Returns the stopping rule."""

    def count_rule(self, *, counted: int = 1, scheduled: int = 1, opponent: str = "") -> CountRule:
        """Returns the rule for a fixed number of matches.

        Args:
            counted: matches of a policy per match of the required kind.
            scheduled: the same, including all matches that the schedule adds.
            opponent: as in ``CountRule``.
        """
        limit = self.setting.stop.max_matches
        return CountRule(min(self.setting.matches, limit) * counted, limit * scheduled, opponent)
