"""Statistics on judges: agreement, biases, errors, and changed verdicts."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from llmarena_envs.core.options import OptionError
from rating.judge_biases import NO_BIASES, Biases, judge_biases
from rating.judge_errors import JudgeError, judge_errors, rater_scale
from rating.judgements import PREFERENCES, TIE, Judgement, Label, exchanged
from rating.stats.agreement import (
    Agreement,
    PairMeans,
    RaterPair,
    fleiss_kappa,
    kappa_of_pairs,
    krippendorff_alpha,
    label_counts,
    pair_means,
    plurality,
    pooled_agreement,
    rater_pairs,
)
from rating.stats.estimates import Estimate, bounded_mean, rate_estimate
from rating.stats.judge_bias import Changes, changes
from rating.stats.rater_model import RaterFit

_MOST_LABELS = 50
"""Most distinct numeric verdicts; with more, verdicts are rounded to whole numbers."""

_MOST_WORK = 1_000_000
"""Most pairs of verdicts on one item, over all items, for pairwise agreement."""

Cases = Mapping[str, Mapping[str, Label]]
"""Verdict by item and judge."""


class WithMajority(NamedTuple):
    """Agreement of a judge with the majority verdict; several leading verdicts are a tie.

    Attributes:
        all: with all judges of an item, including itself.
        others: with all other judges.
    """

    all: Agreement
    others: Agreement


@dataclass(frozen=True, kw_only=True)
class StageAgreement:
    """Agreement of judges before or after discussion.

    Attributes:
        items: number of items with a verdict.
        shared: items with verdicts of two judges or more.
        pairs: every two judges with a shared item; ``None`` if there are too many.
        means: the means over pairs.
        means_of_many: the means over pairs with enough items.
        pooled: share of equal verdicts over all pairs of verdicts on one item.
        fleiss: Fleiss' kappa.
        krippendorff: Krippendorff's alpha.
        majority: agreement of each judge with the majority.
    """

    items: int
    shared: int
    pairs: Sequence[RaterPair] | None
    means: PairMeans | None
    means_of_many: PairMeans | None
    pooled: Estimate | None
    fleiss: Estimate | None
    krippendorff: Estimate | None
    majority: Mapping[str, WithMajority]


@dataclass(frozen=True, kw_only=True)
class JudgeRow:
    """One judge; biases are of verdicts before discussion.

    Attributes:
        judge: its name.
        verdicts: number of items with a verdict.
        abstentions: number of items without one.
        ties: share of ties in its verdicts.
        biases: its position, verbosity and family bias.
        consistent: share of texts judged in both orders with the same verdict.
        changes: its changes of verdict in the discussion; ``None`` without one.
    """

    judge: str
    verdicts: int
    abstentions: int
    ties: Estimate | None
    biases: Biases
    consistent: Estimate | None
    changes: Changes | None


@dataclass(frozen=True, kw_only=True)
class JudgeStudy:
    """Statistics on judges.

    Attributes:
        items: number of items.
        preferences: whether verdicts are about two sides; numbers otherwise.
        rounded: whether verdicts were rounded to whole numbers because there were too many distinct ones.
        level: level of measurement for Krippendorff's alpha.
        min_pairs: least number of items for a pair of judges.
        before: agreement before discussion; ``None`` without one.
        after: agreement of the final verdicts.
        judges: in alphabetical order; biases are empty for numeric verdicts.
        changed: share of all verdicts that were changed in the discussion.
        decisions_changed: share of items with a changed majority.
        errors: judges against the truth; empty without one.
        scale: severity and discrimination of the judges.
    """

    items: int
    preferences: bool
    rounded: bool
    level: str
    min_pairs: int
    before: StageAgreement | None
    after: StageAgreement
    judges: Sequence[JudgeRow]
    changed: Estimate | None
    decisions_changed: Estimate | None
    errors: Sequence[JudgeError]
    scale: RaterFit


def study(
    judgements: Sequence[Judgement],
    *,
    level: str = "nominal",
    min_pairs: int = 30,
    families: Mapping[str, str] | None = None,
) -> JudgeStudy:
    """Returns statistics on the judges; the order of judgements does not matter.

    Args:
        judgements: one of each judge on each item.
        level: level of measurement for Krippendorff's alpha: ``nominal``, ``ordinal`` or ``interval``.
        min_pairs: shared items below which a pair of judges is flagged.
        families: further families of judges and players, see ``agents.families``; an unknown name is its own family.

    Raises:
        OptionError: if there are no verdicts, or too many distinct whole numbers.
    """
    numbers = {
        label
        for one in judgements
        for label in (one.first, one.final)
        if label is not None and not isinstance(label, str)
    }
    rounded = len(numbers) > _MOST_LABELS
    if rounded:
        judgements = [one._replace(first=_whole(one.first), final=_whole(one.final)) for one in judgements]
    final = _cases(judgements, lambda one: one.final)
    first = _cases(judgements, lambda one: one.first)
    own = _cases(judgements, lambda one: one.final if one.first is None else one.first)
    labels = sorted({label for cases in (first, final) for case in cases.values() for label in case.values()}, key=str)
    if not labels:
        raise OptionError("expected judgements with verdicts, got none; every judge abstained, or there are no judges")
    preferences = all(label in PREFERENCES for label in labels)
    scale: list[Label] = list(PREFERENCES) if preferences else sorted(labels)
    if len(scale) > _MOST_LABELS:
        raise OptionError(f"expected at most {_MOST_LABELS} different verdicts, got {len(scale)}")
    by_judge: dict[str, list[Judgement]] = defaultdict(list)
    for one in sorted(judgements, key=lambda one: (one.item, one.judge)):
        by_judge[one.judge].append(one)
    counts = {item: Counter(case.values()) for item, case in own.items()}
    biases = judge_biases(judgements, families or {}) if preferences else dict.fromkeys(by_judge, NO_BIASES)
    rows = [
        _judge_row(name, by_judge[name], own, counts, biases[name], preferences=preferences, discussed=bool(first))
        for name in sorted(by_judge)
    ]
    both = [one for one in judgements if one.first is not None and one.final is not None]
    return JudgeStudy(
        items=len({one.item for one in judgements}),
        preferences=preferences,
        rounded=rounded,
        level=level,
        min_pairs=min_pairs,
        before=_agreement(first, scale, level, min_pairs) if first else None,
        after=_agreement(final, scale, level, min_pairs),
        judges=rows,
        changed=bounded_mean([one.first != one.final for one in both], [one.item for one in both]),
        decisions_changed=_decisions_changed(first, final),
        errors=judge_errors(judgements),
        scale=rater_scale(judgements),
    )


def _whole(label: Label | None) -> Label | None:
    """Returns the nearest whole number; halves round up."""
    return label if label is None or isinstance(label, str) else float(math.floor(label + 0.5))


def _cases(judgements: Iterable[Judgement], label: Callable[[Judgement], Label | None]) -> Cases:
    cases: dict[str, dict[str, Label]] = defaultdict(dict)
    for one in judgements:
        said = label(one)
        if said is not None:
            cases[one.item][one.judge] = said
    return cases


def _agreement(cases: Cases, scale: Sequence[Label], level: str, min_pairs: int) -> StageAgreement:
    rows, times = label_counts((case.values() for case in cases.values()), scale)
    numbers = None if isinstance(scale[0], str) else [float(label) for label in scale]
    few_enough = sum(len(case) * (len(case) - 1) // 2 for case in cases.values()) <= _MOST_WORK
    means = pair_means(cases.values(), scale) if few_enough else None
    return StageAgreement(
        items=len(cases),
        shared=round(times.sum()),
        pairs=rater_pairs(cases.values(), scale) if few_enough else None,
        means=means,
        means_of_many=pair_means(cases.values(), scale, least=min_pairs) if few_enough else None,
        pooled=pooled_agreement(rows, times),
        fleiss=fleiss_kappa(rows, times),
        krippendorff=krippendorff_alpha(rows, times, level=level, values=numbers),
        majority=_majorities(cases),
    )


def _majorities(cases: Cases) -> dict[str, WithMajority]:
    """Returns each judge's agreement with the majority, on items with verdicts of at least two judges."""
    tables: dict[str, tuple[Counter[tuple[Label, Label]], Counter[tuple[Label, Label]]]] = defaultdict(
        lambda: (Counter(), Counter())
    )
    for case in cases.values():
        counts = Counter(case.values())
        if len(case) < 2:
            continue
        everybody = _decision(counts)
        for judge, label in case.items():
            others = _decision(_without(counts, label))
            for table, majority in zip(tables[judge], (everybody, others), strict=True):
                if majority is not None:
                    table[label, majority] += 1
    return {judge: WithMajority(*map(kappa_of_pairs, tables[judge])) for judge in sorted(tables)}


def _decision(counts: Mapping[Label, int]) -> Label | None:
    """Returns a committee's decision: a tie if several verdicts on two sides lead."""
    preferences = all(isinstance(label, str) for label in counts)
    return plurality(counts, tied=TIE if preferences else None)


def _decisions_changed(first: Cases, final: Cases) -> Estimate | None:
    items = [item for item in final if item in first]
    changed = sum(
        _decision(Counter(first[item].values())) != _decision(Counter(final[item].values())) for item in items
    )
    return rate_estimate(changed, len(items))


def _judge_row(
    judge: str,
    judgements: Sequence[Judgement],
    own: Cases,
    counts: Mapping[str, Counter[Label]],
    biases: Biases,
    *,
    preferences: bool,
    discussed: bool,
) -> JudgeRow:
    """Returns the statistics on one judge."""
    mine = {one.item: own.get(one.item, {}).get(judge) for one in judgements}
    others = {item: _without(counts.get(item, Counter()), label) for item, label in mine.items()}
    verdicts = [label for label in mine.values() if label is not None]
    orders = list(_both_orders(judgements))
    changed = [
        (str(one.first), str(one.final), None if majority is None else str(majority))
        for one in judgements
        if one.first is not None and one.final is not None
        for majority in [_decision(others[one.item])]
    ]
    return JudgeRow(
        judge=judge,
        verdicts=len(verdicts),
        abstentions=sum(one.final is None for one in judgements),
        ties=rate_estimate(sum(label == TIE for label in verdicts), len(verdicts)) if preferences else None,
        biases=biases,
        consistent=rate_estimate(sum(one == exchanged(other) for one, other in orders), len(orders)),
        changes=changes(changed) if discussed else None,
    )


def _without(counts: Counter[Label], label: Label | None) -> Counter[Label]:
    """Returns the number of other judges by label."""
    return counts if label is None else counts - Counter([label])


def _both_orders(judgements: Iterable[Judgement]) -> Iterable[tuple[Label, Label]]:
    """Yields one judge's verdicts on the same texts in both orders, each in terms of its own positions."""
    waiting: dict[str, Judgement] = {}
    for one in judgements:
        if one.final is not None and one.again is not None:
            yield one.final, exchanged(one.again) or one.again
        other = waiting.pop(one.texts, None)
        if other is None:
            waiting[one.texts] = one
        elif one.final is not None and other.final is not None:
            yield one.final, other.final
