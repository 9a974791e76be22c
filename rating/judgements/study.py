"""What judgements say of the judges: agreement before and after discussion, biases, changes of verdicts.

Sources: Auto-Arena (arXiv 2405.20267v1, section 4.4 and figures 3 and 4) for agreement before and after discussion.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from agents.families import family_of
from llmarena_envs.core.options import OptionError
from rating.judgements.judgement import FIRST, PREFERENCES, SECOND, TIE, Judgement, Label, exchanged
from rating.statistics.agreement import Agreement, kappa_of_pairs, plurality_of
from rating.statistics.beyond_others import Beside
from rating.statistics.bounded import bounded_mean
from rating.statistics.estimates import Estimate, rate_estimate
from rating.statistics.judging_bias import (
    Changes,
    Choice,
    KinBias,
    Lean,
    changes,
    kin_bias,
    place_bias,
)
from rating.statistics.length_bias import LengthBias, Measured, length_bias
from rating.statistics.many_raters import fleiss_kappa, krippendorff_alpha, label_counts, pooled_agreement
from rating.statistics.permutation import holm
from rating.statistics.rater_pairs import PairMeans, RaterPair, pair_means, rater_pairs

SIGNIFICANT = 0.05
"""Probability, over all judges and corrected for their number, of calling an unbiased judge biased."""

_MOST_LABELS = 50
"""Different verdicts up to which numbers are compared as they are; more are rounded to whole ones."""
_MOST_WORK = 1_000_000
"""Pairs of verdicts on one case, over all cases, up to which judges are compared two by two."""

Cases = Mapping[str, Mapping[str, Label]]
"""Verdict by case and judge."""


class WithMajority(NamedTuple):
    """How a judge agrees with what most judges say; where several verdicts lead, that is a tie.

    Attributes:
        all: with all judges of a case, itself among them, as a committee decides.
        others: with all but itself.
    """

    all: Agreement
    others: Agreement


@dataclass(frozen=True, kw_only=True)
class StageAgreement:
    """How judges agree before or after discussion.

    Attributes:
        items: cases with a verdict.
        shared: those with verdicts of two judges or more.
        pairs: every two judges with a case in common; ``None`` if there are too many of them.
        means: the means over pairs.
        means_of_many: the means over pairs with enough cases.
        pooled: share of equal verdicts over all pairs of verdicts on one case.
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
    """One judge. Biases are those of verdicts given before it read what others say.

    Attributes:
        judge: its name.
        verdicts: number of cases with a verdict of it.
        abstentions: number of cases without.
        ties: share of ties in its verdicts.
        place: how it leans to the side shown first; ``p`` is corrected for the number of judges, as in the next two.
        length: how it leans to the longer side.
        kin: how it treats players of its own family.
        consistent: share of texts judged in both orders for which it gave the same verdict.
        changes: what it did with its verdicts in the discussion; ``None`` without one.
    """

    judge: str
    verdicts: int
    abstentions: int
    ties: Estimate | None
    place: Lean
    length: LengthBias
    kin: KinBias | None
    consistent: Estimate | None
    changes: Changes | None

    def biases(self) -> list[str]:
        """Returns what can be said of it in words, with the risk of error of ``SIGNIFICANT`` over all judges."""
        found = []
        if _is_significant(self.place.p) and self.place.share:
            found.append("favours the side shown " + ("first" if self.place.share.value > 0.5 else "second"))
        if _is_significant(self.length.p) and self.length.log_odds:
            found.append("favours the " + ("longer" if self.length.log_odds.value > 0 else "shorter") + " side")
        if self.kin and _is_significant(self.kin.p):
            found.append(("favours" if self.kin.excess.value > 0 else "disfavours") + " its own family")
        return found


@dataclass(frozen=True, kw_only=True)
class JudgeStudy:
    """What judgements say of the judges.

    Attributes:
        items: number of cases.
        preferences: whether verdicts are about two sides; numbers otherwise.
        rounded: whether verdicts are numbers that were rounded to whole ones, since there were too many different ones.
        level: what verdicts are taken for in Krippendorff's alpha.
        min_pairs: cases below which a pair of judges has too few.
        before: agreement before discussion; ``None`` without one.
        after: agreement of the verdicts that count.
        judges: in alphabetical order; biases are empty where verdicts are numbers.
        changed: share of all verdicts that were changed in the discussion.
        decisions_changed: share of cases whose majority changed.
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


def study(
    judgements: Sequence[Judgement],
    *,
    level: str = "nominal",
    min_pairs: int = 30,
    families: Mapping[str, str] | None = None,
) -> JudgeStudy:
    """Returns what judgements say of the judges, whatever order they are in.

    Args:
        judgements: one of each judge on each case.
        level: what verdicts are taken for in Krippendorff's alpha: ``nominal``, ``ordinal`` or ``interval``.
        min_pairs: cases in common below which a pair of judges is flagged.
        families: further families of judges and players, see ``agents.families``; a name of no known family is one of its own.

    Raises:
        OptionError: if there are no verdicts, or more different whole numbers than labels can be.
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
    opinions = {item: _Opinions(case) for item, case in own.items()} if preferences else {}
    rows = [
        _judge_row(name, by_judge[name], own, counts, opinions, families or {}, discussed=bool(first))
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
        judges=_corrected(rows) if preferences else [_without_biases(row) for row in rows],
        changed=bounded_mean([one.first != one.final for one in both], [one.item for one in both]),
        decisions_changed=_decisions_changed(first, final),
    )


def _whole(label: Label | None) -> Label | None:
    """Returns the whole number that is nearest to a number, the greater one of two."""
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
    """Returns how each judge agrees with the majority of the cases in which others gave a verdict too."""
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
    """Returns what a committee decides: a tie where several verdicts on two sides lead."""
    preferences = all(isinstance(label, str) for label in counts)
    return plurality_of(counts, tied=TIE if preferences else None)


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
    opinions: "Mapping[str, _Opinions]",
    families: Mapping[str, str],
    *,
    discussed: bool,
) -> JudgeRow:
    """Returns what the judgements of one judge say of it, with p-values that are not corrected."""
    mine = {one.item: own.get(one.item, {}).get(judge) for one in judgements}
    others = {item: _without(counts.get(item, Counter()), label) for item, label in mine.items()}
    # Verdicts on the same texts in both orders are not independent: one of them is taken.
    told = {
        one.contest or one.item: (one, _score(label, FIRST), opinions[one.item].without(judge, label))
        for one in judgements
        if (label := mine[one.item]) in PREFERENCES
    }
    lengths = [
        Measured(one.players, score, one.words[0] - one.words[1], opinion)
        for one, score, opinion in told.values()
        if one.words
    ]
    kin = [Beside(score, _kinship(judge, one.players, families), opinion) for one, score, opinion in told.values()]
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
        ties=rate_estimate(sum(label == TIE for label in verdicts), len(verdicts)),
        place=place_bias(
            [choice for one in judgements for choice in _choices(one, mine[one.item])],
            [(one == FIRST, other == FIRST) for one, other in orders if TIE not in (one, other)],
        ),
        length=length_bias(lengths),
        kin=kin_bias(kin),
        consistent=rate_estimate(sum(one == exchanged(other) for one, other in orders), len(orders)),
        changes=changes(changed) if discussed else None,
    )


class _Opinions:
    """What two groups of the judges of a case think of the side shown first: every second judge in alphabetical order.

    Args:
        case: verdict by judge.
    """

    def __init__(self, case: Mapping[str, Label]) -> None:
        self._group = {judge: place % 2 for place, judge in enumerate(sorted(case))}
        self._sums, self._sizes = [0.0, 0.0], [0, 0]
        for judge, label in case.items():
            self._sums[self._group[judge]] += _score(label, FIRST)
            self._sizes[self._group[judge]] += 1

    def without(self, judge: str, label: Label) -> tuple[float, float] | None:
        """Returns the mean scores of both groups without one judge and its verdict; ``None`` if one of them is empty then."""
        sums, sizes = list(self._sums), list(self._sizes)
        sums[self._group[judge]] -= _score(label, FIRST)
        sizes[self._group[judge]] -= 1
        return (sums[0] / sizes[0], sums[1] / sizes[1]) if min(sizes) else None


def _without(counts: Counter[Label], label: Label | None) -> Counter[Label]:
    """Returns how often each label is given by the others."""
    return counts if label is None else counts - Counter([label])


def _choices(one: Judgement, own: Label | None) -> Iterable[Choice]:
    """Yields the decided verdicts of a judgement, each with the players in the order in which they were shown."""
    if own in (FIRST, SECOND):
        yield Choice(*one.players, own == FIRST)
    if one.again in (FIRST, SECOND):
        yield Choice(*one.players[::-1], one.again == SECOND)


def _both_orders(judgements: Iterable[Judgement]) -> Iterable[tuple[Label, Label]]:
    """Yields the verdicts of one judge on the same texts in both orders, each told of the places as they were then."""
    waiting: dict[str, Judgement] = {}
    for one in judgements:
        if one.final is not None and one.again is not None:
            yield one.final, exchanged(one.again) or one.again
        other = waiting.pop(one.contest, None)
        if other is None:
            waiting[one.contest] = one
        elif one.final is not None and other.final is not None:
            yield one.final, other.final


def _kinship(judge: str, players: Sequence[str], families: Mapping[str, str]) -> int:
    """Returns which player is of the judge's family: 1 the first one, -1 the second one, 0 neither or both."""
    own = family_of(judge, families) or judge
    first, second = ((family_of(player, families) or player) == own for player in players)
    return int(first) - int(second)


def _score(label: Label, side: str) -> float:
    return 0.5 if label == TIE else float(label == side)


def _corrected(rows: Sequence[JudgeRow]) -> list[JudgeRow]:
    """Returns the rows with p-values corrected for the number of judges."""
    place = _holm([row.place.p for row in rows])
    length = _holm([row.length.p for row in rows])
    kin = _holm([row.kin.p if row.kin else None for row in rows])
    return [
        replace(
            row,
            place=row.place._replace(p=place[index]),
            length=row.length._replace(p=length[index]),
            kin=row.kin and row.kin._replace(p=kin[index] or 0.0),
        )
        for index, row in enumerate(rows)
    ]


def _holm(values: Sequence[float | None]) -> list[float | None]:
    corrected = iter(holm([value for value in values if value is not None]))
    return [None if value is None else next(corrected) for value in values]


def _without_biases(row: JudgeRow) -> JudgeRow:
    nothing = Lean(None, None, "all")
    return replace(row, ties=None, place=nothing, length=LengthBias(None, None, None, None), kin=None)


def _is_significant(p: float | None) -> bool:
    return p is not None and p < SIGNIFICANT
