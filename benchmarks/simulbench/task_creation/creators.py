"""Scripted creators: one with templates, one that reads a file, and one with faults."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from agents.policy import ScriptedPolicy
from benchmarks.simulbench.task_creation.case import TaskRequest
from benchmarks.simulbench.task_creation.proposals import Proposal, write_proposals
from llmarena_envs.core.options import check_choice
from llmarena_envs.simulation.tasks import Task, load_tasks


class Templates(ScriptedPolicy):
    """Joins the interface of an object, a format and a first request, all drawn by seed; each object at most once."""

    def __call__(self, request: TaskRequest) -> str:
        """Returns the requested number of tasks, if it knows so many objects."""
        return write_proposals(self.write(request)[: request.wanted])

    def write(self, request: TaskRequest) -> list[Proposal]:
        """Returns a task for each known object without a task, in an order drawn by seed."""
        words = _templates(request.language)
        things = words[request.type]
        order = [things[int(number)] for number in self.rng.permutation(len(things))]
        given = {each.act for each in request.accepted} | {draft.proposal.act for draft in request.last}
        return [
            Proposal(
                thing["name"],
                f"{thing['interface']} {self.choose(words['formats'])}\n{words['first']}{self.choose(thing['requests'])}",
                thing["request_type"],
            )
            for thing in order
            if thing["name"] not in given
        ]


class FromFile(ScriptedPolicy):
    """Gives the tasks of a file with the given type, in its order, from the first new task.

    Args:
        file: the file.
    """

    def __init__(self, file: str) -> None:
        self._tasks = load_tasks(file)

    def __call__(self, request: TaskRequest) -> str:
        """Returns the requested number of tasks, or fewer at the end of the file; after it, an earlier task again."""
        own = [_proposal(task) for task in self._tasks if task.type == request.type]
        given = {draft.proposal.act for draft in request.last} | {each.act for each in request.accepted}
        fresh = [each for each in own if each.act not in given]
        return write_proposals((fresh or own[:1] or [Proposal("", "", "")])[: request.wanted])


class Careless(Templates):
    """A creator with a fault.

    Args:
        fault: ``same``: the same task repeatedly; ``copy``: the examples; ``short``: a too short description; ``prose``: no
            JSON.
    """

    def __init__(self, fault: str = "same") -> None:
        check_choice("fault", fault, ("same", "copy", "short", "prose"))
        self._fault = fault

    def __call__(self, request: TaskRequest) -> str:
        """Returns a faulty reply."""
        if self._fault == "copy" and request.examples:
            return write_proposals(_proposal(task) for task in request.examples[: request.wanted])
        first = request.accepted[0] if request.accepted else self.write(request)[0]
        if self._fault == "short":
            first = first._replace(task_description=first.act)
        proposals = [first] * request.wanted
        return "\n".join(each.act for each in proposals) if self._fault == "prose" else write_proposals(proposals)


def _proposal(task: Task) -> Proposal:
    return Proposal(task.act, task.task_description, task.request_type)


@cache
def _templates(language: str) -> dict[str, Any]:
    file = resources.files("benchmarks.simulbench.task_creation") / "templates" / f"{language}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
