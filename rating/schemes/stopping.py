"""Stopping rules: when the matches of an environment suffice.

A rule is a function of the outcomes so far, applied between batches, so that it does not depend on the order in which
matches end. It answers with the name of the reason to stop:

* ``mu_stable``: no policy's TrueSkill mu has changed much over its last matches (L-3);
* ``sigma``: every policy's TrueSkill sigma is small (L-3);
* ``order_known``: the order of the Bradley-Terry ratings is known with the wanted confidence;
* ``count``: every policy has played the wanted number of matches;
* ``cap``: a policy has been scheduled as often as allowed, void matches included, so that every run ends.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rating.records.outcome import FINISHED, Outcome
from rating.statistics import bradley_terry
from rating.statistics.bradley_terry import BradleyTerryOptions
from rating.statistics.trueskill_rating import TrueSkillOptions, TrueSkillResult, rate

ORDER_DRAWS = 200


@dataclass(frozen=True)
class StopRule:
    """The rule of rated two-player environments (L-3).

    Stops when every policy has finished ``min_matches`` matches and one of ``mu_stable``, ``sigma`` and ``order_known``
    holds, or at the cap.

    Attributes:
        min_matches: finished matches of each policy before anything but the cap can stop.
        window: own matches ago with which a policy's mu is compared.
        eps: every mu must have changed by less.
        sigma: every sigma must be less.
        max_matches: scheduled matches of a policy at which play stops in any case; the batch under way is finished.
        expected_order: stop if the expected Spearman correlation of the fitted order with the true one is at least this,
            e.g. 0.99; ``None`` for not at all.
        trueskill: parameters of the ratings.
        bradley_terry: what is fitted for ``expected_order``.
    """

    min_matches: int = 50
    window: int = 20
    eps: float = 0.25
    sigma: float = 1.0
    max_matches: int = 400
    expected_order: float | None = None
    trueskill: TrueSkillOptions = field(default_factory=TrueSkillOptions)
    bradley_terry: BradleyTerryOptions = field(default_factory=BradleyTerryOptions)

    def __post_init__(self) -> None:
        _check_positive(self, "min_matches", "window", "max_matches")
        if self.expected_order is not None and not 0 < self.expected_order <= 1:
            raise ValueError(f"expected_order: expected a correlation above 0, at most 1, got {self.expected_order}")


@dataclass(frozen=True)
class CountRule:
    """The rule of environments that are not rated by TrueSkill: a fixed number of finished matches of each policy.

    Attributes:
        matches: of each policy, e.g. 100 as undercover.
        max_matches: scheduled matches of a policy at which play stops in any case; the batch under way is finished.
        opponent: the fixed policy of a ``field`` schedule, whose matches on the other seats are not its own; empty for
            none.
    """

    matches: int = 100
    max_matches: int = 400
    opponent: str = ""

    def __post_init__(self) -> None:
        _check_positive(self, "matches", "max_matches")


def stop_reason(
    outcomes: Iterable[Outcome], policies: Sequence[str], rule: StopRule | CountRule | None = None
) -> str | None:
    """Returns the name of the reason to stop, or ``None`` to go on.

    Args:
        outcomes: all outcomes of one environment so far, void ones included, in any order.
        policies: the policies under test.
        rule: by default ``StopRule()``.
    """
    rule = rule or StopRule()
    outcomes = list(outcomes)
    opponent = rule.opponent if isinstance(rule, CountRule) else ""
    done = _matches_of_each([outcome for outcome in outcomes if outcome.status == FINISHED], policies, opponent)
    if isinstance(rule, CountRule):
        if min(done.values()) >= rule.matches:
            return "count"
    elif min(done.values()) >= rule.min_matches and (reason := _converged(outcomes, policies, rule)):
        return reason
    return "cap" if max(_matches_of_each(outcomes, policies, opponent).values()) >= rule.max_matches else None


def _converged(outcomes: list[Outcome], policies: Sequence[str], rule: StopRule) -> str | None:
    result = rate(outcomes, rule.trueskill, closed_form=True)
    if any(name not in result.ratings for name in policies):  # it has only met itself
        return None
    if all(_change(result, name, rule) < rule.eps for name in policies):
        return "mu_stable"
    if all(result.ratings[name].sigma < rule.sigma for name in policies):
        return "sigma"
    if rule.expected_order is not None and len(policies) > 1:
        fitted = bradley_terry.fit(outcomes, rule.bradley_terry)
        if bradley_terry.expected_order(fitted, draws=ORDER_DRAWS) >= rule.expected_order:
            return "order_known"
    return None


def _change(result: TrueSkillResult, name: str, rule: StopRule) -> float:
    """Returns by how much a policy's mu has changed over the window; endless while it has played fewer matches."""
    mus = [rule.trueskill.mu, *(step.mu for step in result.history[name])]
    return abs(mus[-1] - mus[-1 - rule.window]) if len(mus) > rule.window else float("inf")


def _matches_of_each(outcomes: Iterable[Outcome], policies: Sequence[str], opponent: str) -> dict[str, int]:
    """Counts the different matches of each policy; those of ``opponent`` only where it is on every seat."""
    numbers: dict[str, set[int]] = {name: set() for name in policies}
    for outcome in outcomes:
        names = {seat.policy for seat in outcome.seats}
        for name in (names - {opponent} or names) & numbers.keys():
            numbers[name].add(outcome.number)
    return {name: len(matches) for name, matches in numbers.items()}


def _check_positive(rule: StopRule | CountRule, *names: str) -> None:
    for name in names:
        if getattr(rule, name) < 1:
            raise ValueError(f"{name}: expected 1 or more, got {getattr(rule, name)}")
