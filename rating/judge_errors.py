"""Errors of judges against the truth, and judges as raters on one scale.

The truth of an item is the right verdict: by an engine, by tests, by a reference, or of a file. Verdicts and truths are put on a
scale from 0 to 1: the score of the side shown first, or the place of a rating in the range of all ratings.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rating.judgements import SCORES, Judgement, Label
from rating.stats.estimates import Estimate, bounded_mean, signed_mean
from rating.stats.prediction_powered import TrueScore, true_score
from rating.stats.rater_model import RaterFit, fit_raters
from rating.stats.transport import PartError, transport


@dataclass(frozen=True, kw_only=True)
class JudgeError:
    """One judge against the truth, by its final verdicts.

    Attributes:
        judge: name.
        right: share of right verdicts on two sides; ``None`` for ratings.
        error: mean verdict minus the truth, on a scale of 1.
        score: mean rating of all items, alone and corrected by the truth; ``None`` for verdicts on two sides.
        parts: transport of its calibration between tasks.
    """

    judge: str
    right: Estimate | None
    error: Estimate | None
    score: TrueScore | None
    parts: Sequence[PartError]


def judge_errors(judgements: Iterable[Judgement]) -> list[JudgeError]:
    """Returns every judge with a verdict on an item with truth, by name."""
    scale = _Scale(judgements)
    found = []
    for judge, own in sorted(scale.by_judge.items()):
        known = [one for one in own if one.truth is not None]
        if not known:
            continue
        errors = [scale.place(one.final) - scale.place(one.truth) for one in known]
        deals = [_case(one) for one in known]
        right, score = None, None
        if scale.preferences:
            right = bounded_mean([float(one.final == one.truth) for one in known], deals)
        else:
            truths = [None if one.truth is None else scale.place(one.truth) for one in own]
            score = true_score([scale.place(one.final) for one in own], truths, [_case(one) for one in own])
        found.append(
            JudgeError(
                judge=judge,
                right=right,
                error=signed_mean(errors, deals),
                score=score,
                parts=_transport([scale.item(one, one.part) for one in known if one.part]),
            )
        )
    return found


def transport_between(judged: Mapping[str, Sequence[Judgement]]) -> dict[str, Sequence[PartError]]:
    """Returns the transport of each judge's calibration between environments; judges without truth in two are left out.

    Args:
        judged: judgements by environment; each environment has a scale of its own.
    """
    items: dict[str, list[_Item]] = defaultdict(list)
    for environment, judgements in judged.items():
        scale = _Scale(judgements)
        for judge, own in scale.by_judge.items():
            items[judge] += [scale.item(one, environment) for one in own if one.truth is not None]
    found = {judge: _transport(own) for judge, own in sorted(items.items())}
    return {judge: parts for judge, parts in found.items() if parts}


_Item = tuple[float, float, str, str]
"""Verdict and truth of an item on the scale, its part and its case."""


def _transport(items: Sequence[_Item]) -> Sequence[PartError]:
    return transport(*zip(*items, strict=True)) if items else []


def _case(one: Judgement) -> str:
    return one.deal or one.texts


class _Scale:
    """Judgements with a final verdict, by judge, and their scale."""

    def __init__(self, judgements: Iterable[Judgement]) -> None:
        self.by_judge: dict[str, list[Judgement]] = defaultdict(list)
        self.preferences, numbers = True, []
        for one in judgements:
            if one.final is None:
                continue
            self.by_judge[one.judge].append(one)
            for label in (one.final, one.truth):
                if label is not None and not isinstance(label, str):
                    self.preferences = False
                    numbers.append(label)
        self._low = min(numbers, default=0.0)
        self._range = max(numbers, default=1.0) - self._low or 1.0

    def item(self, one: Judgement, part: str) -> _Item:
        """Returns a judgement with truth as an item of a part."""
        return self.place(one.final), self.place(one.truth), part, _case(one)

    def place(self, label: Label | None) -> float:
        """Returns the place of a verdict between 0 and 1."""
        if isinstance(label, str):
            return SCORES[label]
        assert label is not None
        return (label - self._low) / self._range


def rater_scale(judgements: Iterable[Judgement]) -> RaterFit:
    """Returns severity and discrimination of the judges, from verdicts before discussion."""
    cases: dict[str, dict[str, float]] = defaultdict(dict)
    for one in judgements:
        own = one.final if one.first is None else one.first
        if own is not None:
            cases[one.item][one.judge] = SCORES[own] if isinstance(own, str) else own
    return fit_raters(cases)
