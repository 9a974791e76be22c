"""The rules: an examiner drafts questions in one domain by batches; what is good is kept, what is missing asked for again."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from benchmarks.experiments.commission import Commission, most_calls
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import check_choice, check_int
from llmarena_envs.debate.questions import DOMAINS, load_questions
from llmarena_envs.debate.questions.examiner import REASONS, Draft, screen

EXAMINER = "examiner_0"
MAX_COUNT = 100
MAX_CALLS = 10

Drafts = tuple[str, ...]
"""An action: the questions of one reply."""

NOTHING: Drafts = ("...",)
"""What counts for a reply that could not be read: a question that is empty."""


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


class Examination(Game[Drafts, ExaminationView]):
    """An examination of one examiner.

    Args:
        domain: of the questions.
        count: how many are wanted.
        batch: how many of them are asked for at once.
        calls: how often a batch is asked for at most; what is missing then is left out.
        language: of the questions.
    """

    agents = (EXAMINER,)

    def __init__(self, *, domain: str, count: int, batch: int, calls: int, language: str) -> None:
        check_choice("domain", domain, DOMAINS)
        check_int("count", count, 1, MAX_COUNT)
        check_int("batch", batch, 1, MAX_COUNT)
        check_int("calls", calls, 1, MAX_CALLS)
        self.domain, self.count, self.batch, self.calls, self.language = domain, count, batch, calls, language
        self.max_turns = most_calls(count, batch, calls)

    def reset(self, rng: np.random.Generator) -> None:
        """Begins with the first batch; nothing is drawn."""
        self.to_move: tuple[str, ...] = self.agents
        self.rewards = (0.0,)
        self._last: tuple[Draft, ...] = ()
        self._commission: Commission[str] = Commission.begun(self.count, self.batch, self.calls)

    @property
    def accepted(self) -> tuple[str, ...]:
        """Returns what was kept so far."""
        return self._commission.accepted

    def view(self, agent: str) -> ExaminationView:
        """Returns what was kept, and what is wanted."""
        to_move = agent in self.to_move
        return ExaminationView(
            agent,
            to_move,
            (),
            self.domain,
            self.language,
            self.count,
            self._commission.wanted * to_move,
            self.accepted,
            self._last,
        )

    def why_illegal(self, agent: str, action: Drafts) -> Reason | None:
        """Returns ``None``: every reply counts, whatever is kept of it."""
        return None

    def random_action(self, agent: str, rng: np.random.Generator) -> Drafts:
        """Draws some of the questions that come with the package."""
        own = [question.text for question in load_questions("builtin", self.language) if question.domain == self.domain]
        return tuple(own[int(index)] for index in rng.integers(len(own), size=max(1, self._commission.wanted)))

    def default_action(self, agent: str) -> Drafts:
        """Returns a question that is empty."""
        return NOTHING

    def apply(self, actions: tuple[Drafts, ...]) -> None:
        """Keeps what is good, and asks for what is missing, for the next batch, or for nothing more."""
        drafts = screen(actions[0], self.domain, self.language, self.accepted)
        good = [draft.text for draft in drafts if draft.refused is None]
        self._commission = self._commission.taken(good, [draft.refused.name for draft in drafts if draft.refused])
        self._last = tuple(drafts) if self._commission.asked else ()
        if not self._commission.wanted:
            self.to_move = ()
            self.rewards = (len(self.accepted) / self.count,)

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns what was drafted and kept, and the questions refused by reason."""
        return {
            "domain": float(DOMAINS.index(self.domain)),
            **self._commission.statistics({reason: refusal_statistic(reason) for reason in REASONS}),
        }


def refusal_statistic(reason: str) -> str:
    """Returns the statistic that counts questions refused for a reason."""
    return reason.replace("question_", "refused_", 1)
