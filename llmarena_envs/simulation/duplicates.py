"""Detection of near-duplicate tasks.

Source: SimulBench (arXiv 2409.07641, section 2.2), which removes them from generated tasks.
"""

from collections.abc import Sequence

from llmarena_envs.core.similarity import Seen, essence
from llmarena_envs.simulation.tasks import Task


def near_duplicates(tasks: Sequence[Task]) -> dict[int, int]:
    """Maps each near-duplicate task's index to the index of an earlier one.

    Two tasks are near-duplicates if their acts have the same letters and digits, or if their descriptions share most of their
    pieces (``core.similarity``). The remaining tasks contain no near-duplicates.
    """
    found: dict[int, int] = {}
    kept: list[int] = []
    descriptions = Seen()
    acts: dict[str, int] = {}
    for number, task in enumerate(tasks):
        near = descriptions.find(task.task_description)
        earlier = acts.get(essence(task.act), kept[near] if near is not None else None)
        if earlier is not None:
            found[number] = earlier
            continue
        kept.append(number)
        descriptions.add(task.task_description)
        acts[essence(task.act)] = number
    return found
