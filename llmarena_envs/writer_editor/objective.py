"""Measuring what was written, beside the judges: by tests, or by comparison with a reference."""

from collections.abc import Callable
from typing import Any, NamedTuple

from llmarena_envs.writer_editor.task_types import Document, Problem

PassRate = Callable[[str, Problem], float | None]
"""``pass_rate(program, problem)``: the share of the tests that a program passes, or ``None`` if it could not be run.

Programs come from models: whatever runs them does so in a sandbox, and ``copy.deepcopy`` and ``pickle`` keep it.
"""

UNKNOWN = -1.0
"""Value of a statistic that is not known, or secret until the match is over."""


class Measure(NamedTuple):
    """A number that tells how good a text is.

    Attributes:
        name: what it is called in statistics.
        best: its greatest value; the least is 0.
        of: takes the text and its task, returns the number, or ``None`` if it is not known.
    """

    name: str
    best: float
    of: Callable[[str, Any], float | None]

    def measure(self, text: str, task: Problem | Document) -> float:
        """Returns the number, or ``UNKNOWN``."""
        value = self.of(text, task)
        return UNKNOWN if value is None else min(value, self.best)
