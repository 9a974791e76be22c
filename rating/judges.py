"""Statistics on judges: agreement, position bias, verbosity bias, self-preference, and changed verdicts.

* Position bias: the same texts in both orders, or the same two players in both positions, by an exact test.
* Verbosity bias: two tests must agree. Between the same two players the longer text wins more often (exact test), and length adds
  to the judge's score beyond the other judges' view of the same texts (regression). The first alone would flag every judge where
  longer texts are better, the second alone a fair judge among biased ones.
* Family bias (self-preference): a judge scores players of its family higher than judges of other families do on the same
  texts (regression).

All p-values of all judges are corrected together (Holm 1979): a study of unbiased judges flags any of them with a risk of at most
``SIGNIFICANT``.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from agents.families import family_of
from llmarena_envs.core.options import OptionError
from rating.judgements import PREFERENCES, SCORES, TIE, Judgement, Label, exchanged
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
from rating.stats.judge_bias import (
    BiasTest,
    BiasTrial,
    Changes,
    JudgedItem,
    OtherJudgesView,
    beyond_others,
    changes,
    preference,
)
from rating.stats.simultaneous import holm

SIGNIFICANT = 0.05
"""Risk, over all judges and tests of a study, of flagging an unbiased judge."""

_MOST_LABELS = 50
"""Most distinct numeric verdicts; with more, verdicts are rounded to whole numbers."""

_MOST_WORK = 1_000_000
"""Most pairs of verdicts on one item, over all items, for pairwise agreement."""

Cases = Mapping[str, Mapping[str, Label]]
"""Verdict by item and judge."""


class VerbosityBias(NamedTuple):
    """The dependence of a judge's verdicts on length.

    Attributes:
        longer: mean score of the longer text, between the same two players; ``p`` is not corrected. ``None`` without two players
            of whom each wrote the longer text.
        beyond: effect of being longer on the score, beyond the other judges' view; ``p`` is not corrected. ``None`` without two
            other judges, and with few items.
        p: the larger p-value of both, 1 if they have different signs; ``None`` if either is ``None``.
    """

    longer: BiasTest | None
    beyond: BiasTest | None
    p: float | None


@dataclass(frozen=True, kw_only=True)
class Biases:
    """The biases of one judge; ``p`` of each is corrected for all tests of the study.

    Attributes:
        position: its preference for the side shown first; ``None`` without the same texts or players in both positions.
        verbosity: its preference for the longer text.
        family: effect of being of its family on a player's score; ``None`` without two judges of other families, and with
            few items.
    """

    position: BiasTest | None
    verbosity: VerbosityBias
    family: BiasTest | None

    def named(self) -> list[str]:
        """Returns descriptions of the significant biases."""
        found = []
        if self.position and self.position.p < SIGNIFICANT:
            found.append(
                f"position bias: favours the {'first' if self.position.estimate.value > 0.5 else 'second'} side"
            )
        beyond, p = self.verbosity.beyond, self.verbosity.p
        if beyond and p is not None and p < SIGNIFICANT:
            found.append(f"verbosity bias: favours the {'longer' if beyond.estimate.value > 0 else 'shorter'} text")
        if self.family and self.family.p < SIGNIFICANT:
            favours = "favours" if self.family.estimate.value > 0 else "disfavours"
            found.append(f"family bias: {favours} its own family")
        return found


NO_BIASES = Biases(position=None, verbosity=VerbosityBias(None, None, None), family=None)
"""For numeric verdicts, which have no sides."""


@dataclass
class _Item:
    """Two texts, A and B, with the verdicts on them in either order.

    Attributes:
        shown: the judgement item in which A is shown first.
        players: authors of A and B; empty if not known.
        more: words of A minus words of B; ``None`` if not known.
        scores: scores of A by judge, before discussion, each with whether A was shown first.
        orders: the same for final verdicts, if a judge gave one in both orders within one match.
    """

    shown: str
    players: tuple[str, str]
    more: float | None = None
    scores: dict[str, list[tuple[bool, float]]] = field(default_factory=lambda: defaultdict(list))
    orders: dict[str, list[tuple[bool, float]]] = field(default_factory=dict)


def judge_biases(judgements: Iterable[Judgement], families: Mapping[str, str]) -> dict[str, Biases]:
    """Returns the biases of every judge, by name.

    Args:
        judgements: verdicts on two sides.
        families: further families of judges and players, see ``agents.families``; an unknown name is its own family.
    """
    judgements = sorted(judgements, key=lambda one: (one.item, one.judge))
    items = _items(judgements)

    @cache
    def family(name: str) -> str:
        return family_of(name, families) or name

    rows: dict[str, _Rows] = {judge: _Rows() for judge in sorted({one.judge for one in judgements})}
    for name, item in items.items():
        _add(rows, name, item, family)
    return _corrected({judge: row.biases() for judge, row in rows.items()})


def _items(judgements: Sequence[Judgement]) -> dict[str, _Item]:
    """Returns the texts by name; A is the side shown first in the first judgement."""
    found: dict[str, _Item] = {}
    for one in judgements:
        item = found.setdefault(one.texts, _Item(one.item, one.players))
        is_first = one.item == item.shown
        if one.words:
            item.more = (one.words[0] - one.words[1]) * (1 if is_first else -1)
        own = _score(one.final if one.first is None else one.first, is_first=is_first)
        again, final = _score(one.again, is_first=is_first), _score(one.final, is_first=is_first)
        if own is not None:
            item.scores[one.judge].append((is_first, own))
        if again is not None and one.first is None:
            item.scores[one.judge].append((not is_first, again))
        if again is not None and final is not None:
            item.orders[one.judge] = [(is_first, final), (not is_first, again)]
    return found


def _score(label: Label | None, *, is_first: bool) -> float | None:
    """Returns the score of A."""
    if label not in PREFERENCES:
        return None
    return SCORES[str(label)] if is_first else 1 - SCORES[str(label)]


class _Rows:
    """Trials and regression rows of one judge."""

    def __init__(self) -> None:
        self.position: list[BiasTrial] = []
        self.longer: list[BiasTrial] = []
        self.verbosity: list[JudgedItem] = []
        self.family: list[JudgedItem] = []

    def biases(self) -> Biases:
        """Tests the judge, without correction of p-values."""
        longer, beyond = preference(self.longer), beyond_others(self.verbosity)
        p = None
        if longer and beyond:
            agree = (longer.estimate.value - 0.5) * beyond.estimate.value > 0
            p = max(longer.p, beyond.p) if agree else 1.0
        return Biases(
            position=preference(self.position),
            verbosity=VerbosityBias(longer, beyond, p),
            family=beyond_others(self.family),
        )


def _add(rows: Mapping[str, _Rows], name: str, item: _Item, family: Callable[[str], str]) -> None:
    """Adds an item to the rows of its judges."""
    players = item.players if all(item.players) and item.players[0] != item.players[1] else None
    means = {judge: sum(score for _, score in scores) / len(scores) for judge, scores in item.scores.items()}
    total = _Total()
    parts: dict[str, _Total] = defaultdict(_Total)
    for judge, mean in means.items():
        total.add(mean - 0.5)
        parts[family(judge)].add(mean - 0.5)
    for judge in means.keys() | item.orders.keys():
        row, shown = rows[judge], item.orders.get(judge) or item.scores[judge]
        if len({is_first for is_first, _ in shown}) == 2:
            row.position += [BiasTrial(("texts", name), *one) for one in shown]
        elif players:
            row.position += [_between(players, *one) for one in shown]
    for judge, mean in means.items():
        row, own = rows[judge], _Total(1, mean - 0.5, (mean - 0.5) ** 2)
        position = sum(is_first for is_first, _ in item.scores[judge]) / len(item.scores[judge]) - 0.5
        if item.more:
            sign = 1 if item.more > 0 else -1
            if players:
                row.longer.append(_between(players, sign > 0, 0.5 if mean == 0.5 else float(mean > 0.5)))
            if others := total.without(own):
                row.verbosity.append(JudgedItem(mean - 0.5, position, sign, others))
        if all(item.players) and (others := total.without(parts[family(judge)])):
            first, second = (family(player) == family(judge) for player in item.players)
            row.family.append(JudgedItem(mean - 0.5, position, int(first) - int(second), others))


def _between(players: tuple[str, str], is_a: bool, score: float) -> BiasTrial:
    """Returns a trial between two players, with A first in alphabetical order."""
    if players[0] < players[1]:
        return BiasTrial(players, is_a, score)
    return BiasTrial(players[::-1], not is_a, 1 - score)


@dataclass
class _Total:
    """Sums over judges."""

    n: int = 0
    scores: float = 0.0
    squares: float = 0.0

    def add(self, score: float) -> None:
        """Adds a judge's score, -0.5 to 0.5."""
        self.n, self.scores, self.squares = self.n + 1, self.scores + score, self.squares + score * score

    def without(self, left_out: "_Total") -> OtherJudgesView | None:
        """Returns the view of the other judges; ``None`` if there are fewer than two."""
        n, scores = self.n - left_out.n, self.scores - left_out.scores
        product = scores * scores - self.squares + left_out.squares
        return OtherJudgesView(scores / n, product / (n * (n - 1))) if n >= 2 else None


def _corrected(found: Mapping[str, Biases]) -> dict[str, Biases]:
    """Corrects the p-values of all tests together."""
    values = {
        (judge, kind): test.p
        for judge, biases in found.items()
        for kind, test in vars(biases).items()
        if test is not None and test.p is not None
    }
    corrected = dict(zip(values, holm(list(values.values())), strict=True))
    return {
        judge: replace(
            biases,
            **{
                kind: test._replace(p=corrected[judge, kind])
                for kind, test in vars(biases).items()
                if (judge, kind) in corrected
            },
        )
        for judge, biases in found.items()
    }


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
