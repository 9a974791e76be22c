"""Matches of the scheme ``field``, with the seat under test, by policy."""

from typing import NamedTuple

from benchmarks.experiments.runs import PlayedRun
from llmarena_envs.core.options import OptionError
from rating.errors import RunError
from rating.schemes.field import STANDARD_OPPONENT, Field
from rating.store.records import FINISHED, Outcome, SeatOutcome


class Case(NamedTuple):
    """A match of a policy under test against the field.

    Attributes:
        outcome: outcome of the match.
        seat: the seat of the policy under test.
    """

    outcome: Outcome
    seat: SeatOutcome

    @property
    def is_finished(self) -> bool:
        """Whether the match was played to its end."""
        return self.outcome.status == FINISHED

    @property
    def other_forfeited(self) -> bool:
        """Whether another seat forfeited the match."""
        return any(seat.forfeit for seat in self.outcome.seats if seat.agent != self.seat.agent)


def field_cases(run: PlayedRun, environment: str) -> dict[str, list[Case]]:
    """Returns the matches of every policy under test in match-number order, including void ones.

    Raises:
        OptionError: if the environment was not played by the scheme ``field``.
        RunError: if no match of it has ended.
    """
    scheme = run.run.scheme(environment)
    if not isinstance(scheme, Field):
        raise OptionError(f"{run.directory}: {environment}: expected scheme = 'field', got {scheme.name!r}")
    cases: dict[str, list[Case]] = {policy: [] for policy in scheme.setting.pool.policies}
    for outcome in sorted(run.outcomes(environment), key=lambda outcome: outcome.number):
        seat = scheme.under_test(outcome)
        cases[seat.policy].append(Case(outcome, seat))
    if not any(cases.values()):
        raise RunError(f"{run.directory}: expected matches of {environment}, but none has ended yet")
    return {policy: own for policy, own in cases.items() if own}


def field_opponent(run: PlayedRun, environment: str) -> str:
    """Returns the policy on the seats that are not under test."""
    return run.config.find_environment(environment).opponent or STANDARD_OPPONENT
