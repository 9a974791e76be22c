"""A task creator's work: tasks of one type, in batches; good ones are kept, missing ones requested again.

The creator is shown a few packaged tasks, drawn by seed. Everything that it wrote is quoted.

Source: SimulBench (arXiv 2409.07641), section 2.2, which generates tasks with five examples per prompt and five seeds.
"""

from typing import ClassVar, NamedTuple

import numpy as np

from benchmarks.experiments.asking import Case
from benchmarks.simulbench.task_creation.proposals import Draft, Proposal, read_proposals, screen, write_proposals
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.options import check_choice, check_int
from llmarena_envs.core.quoting import quote
from llmarena_envs.simulation.tasks import TYPES, Task, load_tasks

CREATOR = "creator_0"
MAX_EXAMPLES = 10
MAX_EXAMPLE = 1_500
"""Maximum number of characters of an example's description; some packaged ones are longer than a creator's should be."""

MAX_REFUSED = 200
"""Maximum characters shown of a refused description."""

Proposals = tuple[Proposal, ...]


class TaskRequest(NamedTuple):
    """A request for tasks.

    Attributes:
        type: of the tasks, ``"stateless"`` or ``"stateful"``.
        language: of the tasks.
        total: number of tasks in all batches.
        wanted: number of tasks requested now.
        examples: example tasks.
        accepted: the proposals accepted up to now.
        last: all proposals of the last reply to the present batch, each with its reason for refusal.
    """

    type: str
    language: str
    total: int
    wanted: int
    examples: tuple[Task, ...]
    accepted: Proposals
    last: tuple[Draft, ...]


class Creation(Case):
    """The creation of some tasks; an item is a proposal.

    Args:
        name: name of the case.
        type: of the tasks.
        language: of the tasks and of the texts.
        count: number of tasks wanted.
        batch: tasks per request.
        calls: maximum number of requests per batch.
        examples: maximum number of example tasks of the type, drawn from the packaged ones.
        rng: draws the examples.

    Attributes:
        type: of the tasks.
        examples: the example tasks.
    """

    max_batch: ClassVar[int] = 20

    def __init__(
        self,
        name: str,
        type: str,
        language: str,
        *,
        count: int,
        batch: int,
        calls: int,
        examples: int,
        rng: np.random.Generator,
    ) -> None:
        check_choice("type", type, TYPES)
        check_int("examples", examples, 0, MAX_EXAMPLES)
        super().__init__(name, "benchmarks.simulbench.task_creation", language, count=count, batch=batch, calls=calls)
        self.type, self.reply_tokens = type, 300 * batch
        shipped = (task for task in load_tasks("builtin", language) if task.type == type and not task.engine)
        tasks = tuple(task for task in shipped if len(task.task_description) <= MAX_EXAMPLE)
        drawn = rng.choice(len(tasks), size=min(examples, len(tasks)), replace=False)
        self.examples = tuple(tasks[int(number)] for number in drawn)

    @property
    def example(self) -> str:
        """The form of a reply."""
        return '[{"name": "...", "description": "...", "request_type": "..."}]'

    def request(self, accepted: Proposals, last: tuple[Draft, ...], wanted: int) -> TaskRequest:
        """Returns the request as scripted creators read it."""
        return TaskRequest(self.type, self.language, self.count, wanted, self.examples, accepted, last)

    def texts(self, request: TaskRequest) -> tuple[str, str]:
        """Returns the task, and the present request, the examples, the accepted proposals, and the refused ones with reasons."""
        render = self.prompts.render
        parts = [render(f"type_{request.type}"), render("attributes")]
        if request.examples:
            shown = [Proposal(task.act, task.task_description, task.request_type) for task in request.examples]
            parts.append(f"{render('examples')}\n{quote(write_proposals(shown))}")
        if request.accepted:
            names = "\n".join(quote(each.act) for each in request.accepted)
            parts.append(render("kept", number=len(request.accepted), total=request.total, names=names))
        refused = [draft for draft in request.last if draft.refused]
        if refused:
            parts.append("\n".join([render("refused"), *map(self._refused, refused)]))
        return render("rules"), "\n\n".join([*parts, render("create", wanted=request.wanted)])

    def _refused(self, draft: Draft) -> str:
        assert draft.refused is not None
        act, description, _ = draft.proposal
        cut = description if len(description) <= MAX_REFUSED else f"{description[:MAX_REFUSED]} ..."
        reason = self.prompts.render(f"reason_{draft.refused.name}", **draft.refused.fields)
        return f"{quote(f'{act}: {cut}')}\n{self.prompts.render('because', reason=reason)}"

    def read(self, reply: str) -> Proposals:
        """Reads objects with a name, a description and a request type.

        Raises:
            ParseError: if there are no such objects.
        """
        proposals = read_proposals(reply)
        if not proposals:
            raise ParseError(Failure.UNPARSABLE, "no_tasks")
        return proposals

    def check(self, items: Proposals, accepted: Proposals) -> list[Draft]:
        """Returns the tasks of a reply, each with its reason for refusal."""
        return screen(items, self.examples, accepted)
