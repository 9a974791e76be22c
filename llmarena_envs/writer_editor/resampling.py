"""Placeholders for secret parts of a task and for measures."""

import numpy as np

from llmarena_envs.core.filler import filler
from llmarena_envs.writer_editor.objective import UNKNOWN
from llmarena_envs.writer_editor.task_types import Document, Problem


def other_secrets(task: Problem | Document, rng: np.random.Generator) -> Problem | Document:
    """Returns a task with the same assignment but another solution and tests, or another reference."""
    number = int(rng.integers(1000))
    if isinstance(task, Document):
        return task._replace(tgt=filler("A translation", number) if task.tgt else "")
    signature, name = task.assignment.signature, task.entry_point
    return task._replace(
        code=f"def {signature}:\n    return {number}\n" if signature != name else "",
        test_list=tuple(f"assert callable({name}), {number + place}" for place in range(len(task.test_list))),
        test_setup_code="",
        buggy_code=f"{name} = {number}" if task.buggy_code else "",
        bug=filler("A mistake", number) if task.bug else "",
    )


def other_values(values: tuple[float, float], best: float, rng: np.random.Generator) -> tuple[float, float]:
    """Draws measures of a first and a last text: equal if they were equal, unknown if unknown."""
    first, last = (value if value == UNKNOWN else rng.random() * best for value in values)
    return first, first if values[0] == values[1] else last
