"""Biases of judges: position bias, verbosity bias and self-preference.

* Position bias: the same texts in both orders, or the same two players in both positions, by an exact test.
* Verbosity bias: two tests must agree. Between the same two players the longer text wins more often (exact test), and length adds
  to the judge's score beyond the other judges' view of the same texts (regression). The first alone would flag every judge where
  longer texts are better, the second alone a fair judge among biased ones.
* Family bias (self-preference): a judge scores players of its family higher than judges of other families do on the same
  texts (regression).

All p-values of all judges are corrected together (Benjamini and Hochberg 1995): at most a share ``SIGNIFICANT`` of the flags is
false, on average. Without any biased judge this is the risk of a flag. Each test states its power for a bias of 10 points, at the
level at which one more test would be flagged.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from agents.families import family_of
from rating.judgements import PREFERENCES, SCORES, Judgement, Label
from rating.stats.judge_bias import (
    POINTS,
    POINTS_BEYOND,
    BiasTest,
    BiasTrial,
    JudgedItem,
    OtherJudgesView,
    beyond_others,
    power,
    preference,
)
from rating.stats.simultaneous import benjamini_hochberg

SIGNIFICANT = 0.05
"""False discovery rate: expected share of false flags, over all judges and tests of a study."""


class VerbosityBias(NamedTuple):
    """The dependence of a judge's verdicts on length.

    Attributes:
        longer: mean score of the longer text, between the same two players; ``p`` is not corrected. ``None`` without two players
            of whom each wrote the longer text.
        beyond: effect of being longer on the score, beyond the other judges' view; ``p`` is not corrected. ``None`` without two
            other judges, and with few items.
        p: the larger p-value of both, 1 if they have different signs; ``None`` if either is ``None``.
        power: chance that both tests find a bias of 10 points, if their errors are independent; ``None`` if unknown.
    """

    longer: BiasTest | None
    beyond: BiasTest | None
    p: float | None
    power: float | None = None

    def with_power(self, level: float) -> "VerbosityBias":
        """Returns the bias with the power of both tests."""
        tests = ((self.longer, POINTS), (self.beyond, POINTS_BEYOND))
        both = [power(test, level, bias) for test, bias in tests if test]
        known = [one for one in both if one is not None]
        return self._replace(power=known[0] * known[1] if len(known) == 2 else None)


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
    corrected = dict(zip(values, benjamini_hochberg(list(values.values())), strict=True))
    flagged = sum(p < SIGNIFICANT for p in corrected.values())

    def finished(judge: str, kind: str, test: BiasTest | None) -> BiasTest | None:
        if test is None:
            return None
        p = corrected[judge, kind]
        bias = POINTS if kind == "position" else POINTS_BEYOND
        return test._replace(p=p, power=power(test, level_of(p), bias))

    def level_of(p: float) -> float:
        """Returns the level of this test: one more flag would be raised there."""
        return SIGNIFICANT * (flagged + (p >= SIGNIFICANT)) / len(corrected)

    return {
        judge: Biases(
            position=finished(judge, "position", biases.position),
            verbosity=_corrected_verbosity(biases.verbosity, corrected.get((judge, "verbosity")), level_of),
            family=finished(judge, "family", biases.family),
        )
        for judge, biases in found.items()
    }


def _corrected_verbosity(bias: VerbosityBias, p: float | None, level_of: Callable[[float], float]) -> VerbosityBias:
    return bias if p is None else bias.with_power(level_of(p))._replace(p=p)
