"""Judges of debates.

A configurable judge measures the quality of an answer by the number of its points (lines that begin with ``- ``; see
``agents.baselines.debate``). Biases are in logits of strength: a judge with ``position=1`` favours A as if A were stronger by 1,
so A beats an equal debater with probability ``1 / (1 + exp(-1))``, 73 %.
"""

import math
import re
from collections.abc import Sequence

from agents.baselines.debate.phrases import count_points, count_words, phrases_for, sign, terms
from agents.baselines.debate.seats import DebatePlayer
from llmarena_envs.core.committee import VERDICTS
from llmarena_envs.core.options import OptionError, check_choice, check_number
from llmarena_envs.debate.actions import DebateView
from llmarena_envs.debate.protocol import RESPOND, SIDES

POINTS_PER_LOGIT = 4.0
"""Difference in points for a difference of 1 in strength."""

_SD_OF_LOGISTIC = math.pi / math.sqrt(3)
_FAMILY = re.compile(r"[\w .-]{0,40}")


class Honest(DebatePlayer):
    """Prefers the side with more points in its answers; less than half a point is a tie.

    Args:
        noise: standard deviation of the logistic noise on the difference of points, 0 or more.
        position: position bias towards A, in logits.
        length: verbosity bias: logits for every 100 words that a side says more than the other; below 0 the judge prefers the
            shorter side.
        family: its own family, recognised by the signatures of debaters with the same ``family``.
        kinship: bias towards a side of its family, in logits.
        conformity: see ``DebatePlayer``.
    """

    def __init__(
        self,
        noise: float = 0.0,
        position: float = 0.0,
        length: float = 0.0,
        family: str = "",
        kinship: float = 0.0,
        conformity: float = 0.0,
    ) -> None:
        super().__init__(conformity)
        check_number("noise", noise, 0, 1_000)
        for name, value in (("position", position), ("length", length), ("kinship", kinship)):
            check_number(name, value, -100, 100)
        if not isinstance(family, str) or not _FAMILY.fullmatch(family):
            raise OptionError(f"family: expected up to 40 letters, digits, blanks, '.', '-' or '_', got {family!r:.80}")
        self.noise, self.position, self.length, self.family, self.kinship = noise, position, length, family, kinship

    def judge(self, view: DebateView) -> tuple[str, str]:
        """Returns the verdict from points, biases and noise."""
        points = [sum(map(count_points, answers(view, side))) for side in SIDES]
        biases = self.position
        if self.length:
            biases += self.length / 100 * difference([words_of(view, side) for side in SIDES])
        if self.kinship and self.family:
            mark = sign(view.question, self.family)
            biases += self.kinship * difference([any(mark in text for text in answers(view, side)) for side in SIDES])
        noise = self.rng.logistic(scale=self.noise / _SD_OF_LOGISTIC) if self.noise else 0.0
        lead = difference(points) + POINTS_PER_LOGIT * biases + noise
        return by_lead(lead, margin=0.5), phrases_for(view.question).counted.format(a=points[0], b=points[1])


class Constant(DebatePlayer):
    """Always gives the same verdict.

    Args:
        verdict: ``A``, ``B`` or ``tie``.
        conformity: see ``DebatePlayer``.
    """

    def __init__(self, verdict: str = "A", conformity: float = 0.0) -> None:
        super().__init__(conformity)
        check_choice("verdict", verdict, VERDICTS)
        self.verdict = verdict

    def judge(self, view: DebateView) -> tuple[str, str]:
        """Returns its verdict."""
        return self.verdict, phrases_for(view.question).plain


class Shorter(DebatePlayer):
    """Prefers the shorter side, the instruction for ties in Auto-Arena (arXiv 2405.20267v4, appendix A.3)."""

    def judge(self, view: DebateView) -> tuple[str, str]:
        """Returns the side with fewer words."""
        return by_lead(-difference([words_of(view, side) for side in SIDES])), phrases_for(view.question).plain


class Keyword(DebatePlayer):
    """Prefers the side whose answers use words of the question more often."""

    def judge(self, view: DebateView) -> tuple[str, str]:
        """Returns the side with more words of the question."""
        counts = [
            sum(text.casefold().count(term) for text in answers(view, side) for term in terms(view.question))
            for side in SIDES
        ]
        return by_lead(difference(counts)), phrases_for(view.question).plain


def answers(view: DebateView, side: str) -> list[str]:
    """Returns the answers of a side."""
    return [passage.text for passage in view.passages if passage.side == side and passage.action == RESPOND]


def words_of(view: DebateView, side: str) -> float:
    """Returns the number of words of a side in the view."""
    return sum(count_words(passage.text) for passage in view.passages if passage.side == side)


def difference(sides: Sequence[float]) -> float:
    """Returns the value of A minus the value of B."""
    return sides[0] - sides[1]


def by_lead(lead: float, margin: float = 0.0) -> str:
    """Returns the verdict for a lead of A, a tie for 0 or below the margin."""
    if lead == 0 or abs(lead) < margin:
        return "tie"
    return "A" if lead > 0 else "B"
