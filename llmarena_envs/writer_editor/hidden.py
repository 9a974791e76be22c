"""What nobody is told of a task, replaced by something without meaning."""

import numpy as np

from llmarena_envs.writer_editor.task_types import Document, Problem


def other_secrets(task: Problem | Document, rng: np.random.Generator) -> Problem | Document:
    """Returns a task with the same assignment, and with another solution and other tests, or with another reference."""
    number = int(rng.integers(1000))
    if isinstance(task, Document):
        return task._replace(tgt=f"A translation without meaning, number {number}." if task.tgt else "")
    signature, name = task.assignment.signature, task.entry_point
    return task._replace(
        code=f"def {signature}:\n    return {number}\n" if signature != name else "",
        test_list=tuple(f"assert callable({name}), {number + place}" for place in range(len(task.test_list))),
        test_setup_code="",
        buggy_code=f"{name} = {number}" if task.buggy_code else "",
        bug=f"a mistake without meaning, number {number}" if task.bug else "",
    )
