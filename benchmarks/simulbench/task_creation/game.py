"""The rules: a creator proposes tasks of one type in batches; good ones are kept, missing ones requested again."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from benchmarks.experiments.commission_game import CommissionGame
from benchmarks.simulbench.task_creation.proposals import REASONS, Draft, Proposal, screen
from llmarena_envs.core.options import check_choice, check_int
from llmarena_envs.simulation.tasks import STATEFUL, TYPES, Task, load_tasks

CREATOR = "creator_0"
MAX_EXAMPLES = 10
MAX_EXAMPLE = 1_500
"""Maximum number of characters of an example's description; some packaged ones are longer than a creator's should be."""

Proposals = tuple[Proposal, ...]
"""An action: the tasks of one reply."""

NOTHING: Proposals = (Proposal("", "", ""),)
"""An empty task, used for an unreadable reply."""


def refusal_statistic(reason: str) -> str:
    """Returns the name of the statistic that counts proposals refused for a reason."""
    return reason.replace("proposal_", "refused_", 1)


class CreationView(NamedTuple):
    """View of the creator.

    Attributes:
        agent: the creator.
        to_move: whether tasks are due.
        legal: empty, since tasks cannot be listed.
        type: of the tasks, ``"stateless"`` or ``"stateful"``.
        language: of the tasks.
        total: number of tasks in all batches.
        wanted: number of tasks requested now; 0 at the end.
        examples: example tasks.
        accepted: the proposals accepted up to now.
        last: all proposals of the last reply to the present batch, each with its reason for refusal.
    """

    agent: str
    to_move: bool
    legal: tuple[Proposals, ...]
    type: str
    language: str
    total: int
    wanted: int
    examples: tuple[Task, ...]
    accepted: Proposals
    last: tuple[Draft, ...]


class Creation(CommissionGame[Proposal, CreationView, Draft]):
    """The creation of some tasks.

    Source: SimulBench (arXiv 2409.07641, section 2.2).

    Args:
        type: of the tasks.
        count: number of tasks wanted.
        batch: tasks per request.
        calls: maximum number of requests per batch; tasks still missing afterwards are left out.
        examples: maximum number of example tasks of the type, drawn from the packaged ones by the seed.
        language: of the tasks.

    Attributes:
        examples: the example tasks.
    """

    agents = (CREATOR,)
    nothing = NOTHING
    max_batch = 20
    refusals: ClassVar[Mapping[str, str]] = {reason: refusal_statistic(reason) for reason in REASONS}

    def __init__(self, *, type: str, count: int, batch: int, calls: int, examples: int, language: str) -> None:
        check_choice("type", type, TYPES)
        check_int("examples", examples, 0, MAX_EXAMPLES)
        super().__init__(count, batch, calls)
        self.type, self.language = type, language
        shipped = (task for task in load_tasks("builtin", language) if task.type == type and not task.engine)
        self._tasks = tuple(task for task in shipped if len(task.task_description) <= MAX_EXAMPLE)
        self._shown = min(examples, len(self._tasks))

    def reset(self, rng: np.random.Generator) -> None:
        """Draws the examples and begins with the first batch."""
        drawn = rng.choice(len(self._tasks), size=self._shown, replace=False)
        self.examples = tuple(self._tasks[int(number)] for number in drawn)
        super().reset(rng)

    def screen(self, items: Proposals) -> list[Draft]:
        """Returns the tasks of a reply, each with its reason for refusal."""
        return screen(items, self.examples, self.accepted)

    def view(self, agent: str) -> CreationView:
        """Returns the accepted proposals and the present request."""
        return CreationView(
            agent,
            agent in self.to_move,
            (),
            self.type,
            self.language,
            self.count,
            self.wanted,
            self.examples,
            self.accepted,
            self.last,
        )

    def random_action(self, agent: str, rng: np.random.Generator) -> Proposals:
        """Draws some of the packaged tasks."""
        drawn = rng.integers(len(self._tasks), size=max(1, self.wanted))
        return tuple(
            Proposal(task.act, task.task_description, task.request_type)
            for task in (self._tasks[int(number)] for number in drawn)
        )

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns the numbers of drafted and accepted proposals, and of refused ones by reason."""
        return {"stateful": float(self.type == STATEFUL), **super().statistics(agent)}
