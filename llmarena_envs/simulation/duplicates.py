"""Tasks that are nearly the same, of which one is enough.

Source: SimulBench (arXiv 2409.07641, section 2.2), which leaves them out of the tasks that were generated.
"""

from collections.abc import Sequence

from llmarena_envs.core.similarity import Seen, essence
from llmarena_envs.simulation.tasks import Task


def near_duplicates(tasks: Sequence[Task]) -> dict[int, int]:
    """Returns the numbers of tasks that are nearly the same as an earlier one, each with the number of that one.

    Two tasks are so whose acts have the same letters and digits, or whose descriptions have most of their pieces in common
    (``core.similarity``). The tasks that are left without those returned have no near-duplicates among each other.
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
