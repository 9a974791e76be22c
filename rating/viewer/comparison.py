"""Comparison of policies in a finished or running run, or in a log.

Matches do not end in schedule order: if wins are quick, the ended matches have more wins than the running ones. So a match of a
run counts only when all earlier matches of the two policies, and all of its deal, have ended: the completed prefix.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from llmarena_envs.core.options import OptionError, check_choice
from rating.schemes.base import Scheme
from rating.stats.compare import Champion, PolicyComparison, average_units, compare_champion, compare_units
from rating.stats.estimates import Estimate, mean_estimate
from rating.stats.results import Battle, finished
from rating.stats.simultaneous import DealResult
from rating.stats.units import SHARED, Units, units_of, units_of_means
from rating.store.records import FINISHED, Match, Outcome
from rating.viewer.source import RunSource, Source, battles_of

AVERAGE = "average over the environments"
ALL_PARTS = "all roles"

Matches = Iterable[tuple[Match, Outcome | None]]
"""Matches of one environment, in match-number order, each with its outcome, or ``None`` if it is in progress."""


class Conduct(NamedTuple):
    """Forfeits and fallbacks among a policy's results.

    Attributes:
        forfeits: forfeited matches; they count as lost.
        turns: turns taken.
        fallbacks: turns played by a fallback action.
    """

    forfeits: int
    turns: int
    fallbacks: int

    @property
    def fallback_share(self) -> float:
        """Share of fallback turns, not counting forfeits, 0 to 1."""
        return max(0, self.fallbacks - self.forfeits) / self.turns if self.turns else 0.0


@dataclass(frozen=True)
class Evidence:
    """Comparison units of two policies in one environment, and the number of excluded matches.

    Attributes:
        units: comparison units.
        waiting: matches outside the completed prefix: in progress, or ended after one that is.
        without_result: matches that ended without a result, e.g. because a provider failed.
        conduct: forfeits and fallbacks by policy.
        difference: mean of the first policy minus mean of the second on shared deals; ``None`` if policies meet.
    """

    units: Units
    waiting: int = 0
    without_result: int = 0
    conduct: Mapping[str, Conduct] = field(default_factory=dict)
    difference: Estimate | None = None


@dataclass(frozen=True)
class Part:
    """An environment or a part of it, such as a role.

    Attributes:
        environment: name of the environment.
        name: name of the part; empty for the whole environment.
        policies: names of its policies.
        evidence: returns the evidence on any two of them.
    """

    environment: str
    name: str
    policies: Sequence[str]
    evidence: Callable[[str, str], Evidence]


@dataclass(frozen=True)
class Question:
    """What is asked, chosen before the results are seen.

    Attributes:
        challengers: policies to compare with the champion.
        champion: the other policy.
        level: maximum probability of a wrong claim.
        margin: part of the win rate by which a policy must be better.
        equal: margin within which they are called equal; ``None`` to skip this test.
        is_joint: whether the verdicts on all challengers are held to the level together.
    """

    challengers: Sequence[str]
    champion: str
    level: float = 0.05
    margin: float = 0.0
    equal: float | None = None
    is_joint: bool = False


@dataclass(frozen=True)
class ComparisonResult:
    """The answer for one environment or a part of it.

    Attributes:
        environment: name of the environment, or ``AVERAGE``.
        part: name of the part; empty for the whole environment.
        comparisons: one for each challenger that is in this part.
        evidence: of each comparison.
        champion: the joint verdicts; ``None`` for a single comparison.
    """

    environment: str
    part: str
    comparisons: tuple[PolicyComparison, ...]
    evidence: tuple[Evidence, ...]
    champion: Champion | None

    def to_table(self) -> dict[str, Any]:
        """Returns the result for JSON, with numbers rounded to six significant digits."""
        comparisons = [
            asdict(comparison)
            | {
                "p": comparison.p,
                "waiting": evidence.waiting,
                "void": evidence.without_result,
                "conduct": {name: own._asdict() for name, own in evidence.conduct.items()},
                "mean_difference": evidence.difference and evidence.difference._asdict(),
            }
            for comparison, evidence in zip(self.comparisons, self.evidence, strict=True)
        ]
        table: dict[str, Any] = {"environment": self.environment, "part": self.part, "comparisons": comparisons}
        if self.champion is not None:
            table |= {
                "champion": self.champion.champion,
                "corrected_p": self.champion.p,
                "better": self.champion.better,
            }
        rounded: dict[str, Any] = _rounded(table)
        return rounded


def parts_of(source: Source, environment: str = "") -> list[Part]:
    """Returns the environments of a run or a log; environments of a run whose policies do not meet are split into parts.

    Args:
        source: of the results.
        environment: name of the only environment to return; empty for all.

    Raises:
        OptionError: if there is no such environment.
    """
    return _parts_of_run(source, environment) if isinstance(source, RunSource) else _parts_of_log(source, environment)


def compare_policies(parts: Sequence[Part], question: Question) -> list[ComparisonResult]:
    """Compares policies in each part that holds them, and on average over the environments.

    Raises:
        OptionError: if a policy is unknown or named twice, or a number is out of its range.
    """
    names = (*question.challengers, question.champion)
    known = sorted({name for part in parts for name in part.policies})
    for name in names:
        check_choice("policy", name, known)
    if len(set(names)) < len(names):
        raise OptionError(f"policies: expected different ones, got {', '.join(names)}")
    results = []
    for part in parts:
        present = [name for name in question.challengers if name in part.policies]
        if present and question.champion in part.policies:
            evidence = [part.evidence(name, question.champion) for name in present]
            results.append(_answer(question, part.environment, part.name, present, evidence))
    average = _average(question, results)
    return [*results, average] if average else results


def _answer(
    question: Question, environment: str, part: str, challengers: Sequence[str], evidence: Sequence[Evidence]
) -> ComparisonResult:
    comparisons = tuple(
        compare_units(
            own.units,
            name,
            question.champion,
            level=question.level,
            margin=question.margin,
            equal=question.equal,
            ahead=not question.is_joint,
        )
        for name, own in zip(challengers, evidence, strict=True)
    )
    champion = compare_champion(comparisons) if question.is_joint else None
    return ComparisonResult(environment, part, comparisons, tuple(evidence), champion)


def _average(question: Question, results: Sequence[ComparisonResult]) -> ComparisonResult | None:
    """Returns the comparisons averaged over the environments with matches between policies.

    Returns ``None`` for a single environment, or if a challenger did not meet the champion in all of them.
    """
    averages, results = [], [result for result in results if result.comparisons[0].unit != SHARED]
    for name in question.challengers:
        units: Mapping[str, Units] = {
            result.environment: evidence.units
            for result in results
            for comparison, evidence in zip(result.comparisons, result.evidence, strict=True)
            if comparison.a == name
        }
        average = average_units(units)
        if average is None or len(units) < len(results):
            return None
        averages.append(Evidence(average))
    return _answer(question, AVERAGE, "", question.challengers, averages)


def _parts_of_log(source: Source, environment: str) -> list[Part]:
    """Returns the environments of a log. Its order can depend on the results, so units are shuffled."""
    names = source.environments()
    if environment:
        check_choice("environment", environment, names)
        names = (environment,)
    parts = []
    for name in names:
        battles = source.battles(name)
        policies = sorted({policy for battle in battles for policy in battle[:2]})
        parts.append(Part(name, "", policies, _evidence_of_log(battles, source.seated)))
    return parts


def _evidence_of_log(battles: Sequence[Battle], seated: bool) -> Callable[[str, str], Evidence]:
    return lambda a, b: Evidence(units_of(battles, a, b, seated=seated, ordered=False))


def _parts_of_run(source: RunSource, environment: str) -> list[Part]:
    run = source.run
    names = [item.name for item in run.config.environment]
    if environment:
        check_choice("environment", environment, names)
        names = [environment]
    matches: dict[str, list[tuple[Match, Outcome | None]]] = {name: [] for name in names}
    for match, outcome in source.store.matches():
        if match.environment in matches:
            matches[match.environment].append((match, outcome))
    parts = []
    for name in names:
        scheme = run.scheme(name)
        if scheme.meet:
            parts.append(Part(name, "", run.pool(name), _evidence_of_pairs(matches[name])))
        else:
            found = dict.fromkeys(case.part for case in _cases(scheme, [outcome for _, outcome in matches[name]]))
            together = [ALL_PARTS] if len(found) > 1 and scheme.parts_add_up else []
            parts += [
                Part(name, part, run.pool(name), _evidence_of_means(scheme, matches[name], part))
                for part in [*(found or [""]), *together]
            ]
    return parts


def _evidence_of_pairs(matches: Matches) -> Callable[[str, str], Evidence]:
    def evidence(a: str, b: str) -> Evidence:
        found = completed_battles(matches, a, b)
        units = units_of(found.battles, a, b, seated=found.seated, ordered=True)
        return Evidence(units, found.waiting, found.without_result, found.conduct)

    return evidence


def _evidence_of_means(scheme: Scheme, matches: Matches, part: str) -> Callable[[str, str], Evidence]:
    def evidence(a: str, b: str) -> Evidence:
        later = _later(scheme, a, b)
        outcomes, waiting = completed_prefix(
            matches, lambda match: not {a, b}.isdisjoint(match.policies) and later.isdisjoint(match.policies)
        )
        cases = [case for case in _cases(scheme, outcomes) if part in (case.part, ALL_PARTS)]
        units, differences = units_of_means(cases, a, b)
        return Evidence(
            units,
            waiting,
            sum(outcome.status != FINISHED for outcome in outcomes),
            {name: conduct(finished(outcomes), name) for name in (a, b)},
            mean_estimate(differences),
        )

    return evidence


def _cases(scheme: Scheme, outcomes: Iterable[Outcome | None]) -> list[DealResult]:
    return scheme.cases(scheme.own(outcome for outcome in outcomes if outcome is not None))


def _later(scheme: Scheme, a: str, b: str) -> set[str]:
    """Returns the policies added after both. Their matches reuse earlier deals, whose units must not change."""
    phases = [scheme.setting.pool.founders, *scheme.setting.pool.newcomers]
    last = max((index for index, names in enumerate(phases) if a in names or b in names), default=0)
    return {name for names in phases[last + 1 :] for name in names}


class CompletedBattles(NamedTuple):
    """The completed results of two policies that meet.

    Attributes:
        battles: results in match-number order.
        seated: whether every battle is a two-seat match.
        waiting: their matches outside the completed prefix.
        without_result: their matches that ended without a result, e.g. because a provider failed.
        conduct: forfeits and fallbacks by policy.
    """

    battles: list[Battle]
    seated: bool
    waiting: int
    without_result: int
    conduct: dict[str, Conduct]


def completed_battles(matches: Matches, a: str, b: str) -> CompletedBattles:
    """Returns the battles of two policies in the completed prefix of their matches.

    In a match with more than two seats every pair of seats is a battle; the larger reward wins.
    """
    decided, waiting = completed_prefix(matches, lambda match: a in match.policies and b in match.policies)
    kept = finished(decided)
    battles = [battle for outcome in kept for battle in battles_of(outcome) if {battle.first, battle.second} == {a, b}]
    seated = all(len(outcome.seats) == 2 for outcome in kept)
    without = sum(outcome.status != FINISHED for outcome in decided)
    return CompletedBattles(battles, seated, waiting, without, {name: conduct(kept, name) for name in (a, b)})


def completed_prefix(matches: Matches, is_theirs: Callable[[Match], bool]) -> tuple[list[Outcome], int]:
    """Returns the outcomes of the completed prefix, without deals still in progress, and the number of other matches.

    Args:
        matches: of one environment.
        is_theirs: whether a match counts for the comparison.
    """
    theirs = [(match, outcome) for match, outcome in matches if is_theirs(match)]
    under_way = [match for match, outcome in theirs if outcome is None]
    deals = {match.seed for match in under_way}
    end = min((match.number for match in under_way), default=None)
    decided = [
        outcome
        for match, outcome in theirs
        if outcome is not None and (end is None or match.number < end) and match.seed not in deals
    ]
    return decided, len(theirs) - len(decided)


def conduct(outcomes: Iterable[Outcome], policy: str) -> Conduct:
    """Returns forfeits and fallbacks of a policy in finished matches."""
    seats = [seat for outcome in outcomes for seat in outcome.seats if seat.policy == policy]
    return Conduct(
        sum(bool(seat.forfeit) for seat in seats),
        sum(seat.turns for seat in seats),
        sum(seat.fallbacks for seat in seats),
    )


def _rounded(value: Any) -> Any:
    """Rounds numbers to six significant digits, because p-values can be very small."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value
