"""Position, verbosity and family bias of the judges of a study, with one correction for all tests.

* Position bias: the same texts in both orders, or the same two players in both positions, by an exact test.
* Verbosity bias: two tests must agree. Between the same two players the longer text wins more often (exact test), and length adds
  to the judge's score beyond the other judges' view of the same texts (regression). The first alone would flag every judge where
  longer texts are better, the second alone a fair judge among biased ones.
* Family bias (self-preference): a judge scores players of its family higher than judges of other families do on the same
  texts (regression).

All p-values of all judges are corrected together (Holm 1979): a study of unbiased judges flags any of them with a risk of at most
``SIGNIFICANT``.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from agents.families import family_of
from rating.judges.judgement import PREFERENCES, SCORES, Judgement, Label
from rating.stats.beyond_others import Beside, Beyond, OtherJudgesView, beyond_others
from rating.stats.judging_bias import BiasEstimate, BiasTrial, preference
from rating.stats.simultaneous import holm

SIGNIFICANT = 0.05
"""Risk, over all judges and tests of a study, of flagging an unbiased judge."""


class VerbosityBias(NamedTuple):
    """The dependence of a judge's verdicts on length.

    Attributes:
        longer: mean score of the longer text, between the same two players; ``p`` is not corrected.
        beyond: effect of being longer on the score, beyond the other judges' view; ``p`` is not corrected. ``None`` without two
            other judges, and with few items.
        p: the larger p-value of both, 1 if they have different signs; ``None`` if either is ``None``.
    """

    longer: BiasEstimate
    beyond: Beyond | None
    p: float | None


@dataclass(frozen=True, kw_only=True)
class Biases:
    """The biases of one judge; ``p`` of each is corrected for all tests of the study.

    Attributes:
        position: its preference for the side shown first.
        verbosity: its preference for the longer text.
        family: effect of being of its family on a player's score; ``None`` without two judges of other families, and with
            few items.
    """

    position: BiasEstimate
    verbosity: VerbosityBias
    family: Beyond | None

    def named(self) -> list[str]:
        """Returns descriptions of the significant biases."""
        found = []
        if _is_significant(self.position.p) and self.position.share:
            found.append(f"position bias: favours the {_sign(self.position.share.value - 0.5, 'first', 'second')} side")
        if _is_significant(self.verbosity.p) and self.verbosity.beyond:
            value = self.verbosity.beyond.effect.value
            found.append(f"verbosity bias: favours the {_sign(value, 'longer', 'shorter')} text")
        if self.family and _is_significant(self.family.p):
            found.append(f"family bias: {_sign(self.family.effect.value, 'favours', 'disfavours')} its own family")
        return found


NO_BIASES = Biases(
    position=BiasEstimate(None, None), verbosity=VerbosityBias(BiasEstimate(None, None), None, None), family=None
)
"""For numeric verdicts, which have no sides."""


@dataclass
class _Item:
    """Two texts, A and B, with the verdicts on them in either order.

    Attributes:
        players: authors of A and B; empty if not known.
        more: words of A minus words of B; ``None`` if not known.
        scores: scores of A by judge, before discussion, each with whether A was shown first.
        orders: the same for final verdicts, if a judge gave one in both orders within one match.
    """

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
    order: dict[str, str] = {}
    for one in judgements:
        name = one.texts
        is_first = order.setdefault(name, one.item) == one.item
        if name not in found:
            found[name] = _Item(one.players)
        item = found[name]
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
        self.verbosity: list[Beside] = []
        self.family: list[Beside] = []

    def biases(self) -> Biases:
        """Tests the judge, without correction of p-values."""
        longer, beyond = preference(self.longer), beyond_others(self.verbosity)
        p = None
        if longer.p is not None and longer.share and beyond:
            p = max(longer.p, beyond.p) if (longer.share.value - 0.5) * beyond.effect.value > 0 else 1.0
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
                row.verbosity.append(Beside(mean - 0.5, position, sign, others))
        if all(item.players) and (others := total.without(parts[family(judge)])):
            first, second = (family(player) == family(judge) for player in item.players)
            row.family.append(Beside(mean - 0.5, position, int(first) - int(second), others))


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
    values: dict[tuple[str, str], float] = {}
    for judge, biases in found.items():
        for kind in ("position", "verbosity", "family"):
            test = getattr(biases, kind)
            if test is not None and test.p is not None:
                values[judge, kind] = test.p
    corrected = dict(zip(values, holm(list(values.values())), strict=True))
    return {
        judge: replace(
            biases,
            **{
                kind: getattr(biases, kind)._replace(p=corrected[judge, kind])
                for kind in ("position", "verbosity", "family")
                if (judge, kind) in corrected
            },
        )
        for judge, biases in found.items()
    }


def _is_significant(p: float | None) -> bool:
    return p is not None and p < SIGNIFICANT


def _sign(value: float, above: str, below: str) -> str:
    return above if value > 0 else below
