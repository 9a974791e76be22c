"""The rules: an examiner drafts questions in one domain in batches; good ones are kept, missing ones requested again."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from benchmarks.experiments.commission_game import CommissionGame
from llmarena_envs.core.options import check_choice
from llmarena_envs.debate.questions import DOMAINS, load_questions
from llmarena_envs.debate.questions.examiner import REASONS, Draft, screen

EXAMINER = "examiner_0"

Drafts = tuple[str, ...]
"""An action: the questions of one reply."""

NOTHING: Drafts = ("...",)
"""An empty question, used for an unreadable reply."""


def refusal_statistic(reason: str) -> str:
    """Returns the name of the statistic that counts questions refused for a reason."""
    return reason.replace("question_", "refused_", 1)


class ExaminationView(NamedTuple):
    """View of the examiner.

    Attributes:
        agent: the examiner.
        to_move: whether questions are due.
        legal: empty, since questions cannot be listed.
        domain: the domain.
        language: of the questions.
        total: number of questions in all batches.
        wanted: number of questions requested now; 0 at the end.
        accepted: the questions accepted up to now.
        last: all questions of the last reply to the present batch, each with its reason for refusal.
    """

    agent: str
    to_move: bool
    legal: tuple[Drafts, ...]
    domain: str
    language: str
    total: int
    wanted: int
    accepted: tuple[str, ...]
    last: tuple[Draft, ...]


class Examination(CommissionGame[str, ExaminationView, Draft]):
    """An examination of one examiner.

    Args:
        domain: of the questions.
        count: number of questions wanted.
        batch: questions per request.
        calls: maximum number of requests per batch; questions still missing afterwards are left out.
        language: of the questions.
    """

    agents = (EXAMINER,)
    nothing = NOTHING
    refusals: ClassVar[Mapping[str, str]] = {reason: refusal_statistic(reason) for reason in REASONS}

    def __init__(self, *, domain: str, count: int, batch: int, calls: int, language: str) -> None:
        check_choice("domain", domain, DOMAINS)
        super().__init__(count, batch, calls)
        self.domain, self.language = domain, language

    def screen(self, items: Drafts) -> list[Draft]:
        """Returns the questions of a reply, each with its reason for refusal."""
        return screen(items, self.domain, self.language, self.accepted)

    def view(self, agent: str) -> ExaminationView:
        """Returns the accepted questions and the present request."""
        return ExaminationView(
            agent,
            agent in self.to_move,
            (),
            self.domain,
            self.language,
            self.count,
            self.wanted,
            self.accepted,
            self.last,
        )

    def random_action(self, agent: str, rng: np.random.Generator) -> Drafts:
        """Draws some of the packaged questions."""
        own = [question.text for question in load_questions("builtin", self.language) if question.domain == self.domain]
        return tuple(own[int(index)] for index in rng.integers(len(own), size=max(1, self.wanted)))

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns the numbers of drafted and accepted questions, and of refused ones by reason."""
        return {"domain": float(DOMAINS.index(self.domain)), **super().statistics(agent)}
