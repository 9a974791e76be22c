"""The rules: a creator proposes tasks of one type by batches; what is good is kept, what is missing asked for again."""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np

from benchmarks.experiments.commission_game import CommissionGame
from benchmarks.simulbench.task_creation.proposals import REASONS, Draft, Proposal, screen
from llmarena_envs.core.options import check_choice, check_int
from llmarena_envs.simulation.tasks import STATEFUL, TYPES, Task, load_tasks

CREATOR = "creator_0"
MAX_EXAMPLES = 10

Proposals = tuple[Proposal, ...]
"""An action: the tasks of one reply."""

NOTHING: Proposals = (Proposal("", "", ""),)
"""What counts for a reply that could not be read: a task that is empty."""


def refusal_statistic(reason: str) -> str:
    """Returns the statistic that counts proposals refused for a reason."""
    return reason.replace("proposal_", "refused_", 1)


class CreationView(NamedTuple):
    """What the creator knows.

    Attributes:
        agent: the creator.
        to_move: whether tasks are due.
        legal: empty, since tasks cannot be listed.
        type: of the tasks, ``"stateless"`` or ``"stateful"``.
        language: of the tasks.
        total: number of tasks that are wanted in all.
        wanted: number of tasks that are asked for now; 0 at the end.
        examples: tasks that are shown.
        accepted: the proposals kept so far.
        last: all proposals of the last reply to the present batch, with the reason why one was not kept.
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
        count: how many are wanted.
        batch: how many of them are asked for at once.
        calls: how often a batch is asked for at most; what is missing then is left out.
        examples: number of shipped tasks of the type that are shown, drawn from the seed; all there are if these are fewer.
        language: of the tasks.

    Attributes:
        examples: those that are shown.
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
        # Those that stand on an engine are several times as long as a creator is to write them.
        self._tasks = tuple(task for task in load_tasks("builtin", language) if task.type == type and not task.engine)
        self._shown = min(examples, len(self._tasks))

    def reset(self, rng: np.random.Generator) -> None:
        """Draws the examples and begins with the first batch."""
        drawn = rng.choice(len(self._tasks), size=self._shown, replace=False)
        self.examples = tuple(self._tasks[int(number)] for number in drawn)
        super().reset(rng)

    def screen(self, items: Proposals) -> list[Draft]:
        """Returns the tasks of a reply, each with the reason why it is not kept."""
        return screen(items, self.examples, self.accepted)

    def view(self, agent: str) -> CreationView:
        """Returns what was kept, and what is wanted."""
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
        """Draws some of the tasks that come with the package."""
        drawn = rng.integers(len(self._tasks), size=max(1, self.wanted))
        return tuple(
            Proposal(task.act, task.task_description, task.request_type)
            for task in (self._tasks[int(number)] for number in drawn)
        )

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns what was drafted and kept, and the proposals refused by reason."""
        return {"stateful": float(self.type == STATEFUL), **super().statistics(agent)}
