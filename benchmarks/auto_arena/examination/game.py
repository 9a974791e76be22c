"""The rules: an examiner drafts questions in one domain by batches; what is good is kept, what is missing asked for again."""

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
"""What counts for a reply that could not be read: a question that is empty."""


def refusal_statistic(reason: str) -> str:
    """Returns the statistic that counts questions refused for a reason."""
    return reason.replace("question_", "refused_", 1)


class ExaminationView(NamedTuple):
    """What the examiner knows.

    Attributes:
        agent: the examiner.
        to_move: whether questions are due.
        legal: empty, since questions cannot be listed.
        domain: the domain.
        language: of the questions.
        total: number of questions that are wanted in all.
        wanted: number of questions that are asked for now; 0 at the end.
        accepted: the questions kept so far.
        last: all questions of the last reply to the present batch, with the reason why one was not kept.
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
        count: how many are wanted.
        batch: how many of them are asked for at once.
        calls: how often a batch is asked for at most; what is missing then is left out.
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
        """Returns the questions of a reply, each with the reason why it is not kept."""
        return screen(items, self.domain, self.language, self.accepted)

    def view(self, agent: str) -> ExaminationView:
        """Returns what was kept, and what is wanted."""
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
        """Draws some of the questions that come with the package."""
        own = [question.text for question in load_questions("builtin", self.language) if question.domain == self.domain]
        return tuple(own[int(index)] for index in rng.integers(len(own), size=max(1, self.wanted)))

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns what was drafted and kept, and the questions refused by reason."""
        return {"domain": float(DOMAINS.index(self.domain)), **super().statistics(agent)}
