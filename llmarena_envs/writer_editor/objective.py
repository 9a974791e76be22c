"""Measures of texts in addition to judges: tests, or comparison with a reference."""

from collections.abc import Callable
from typing import Any, NamedTuple

from llmarena_envs.writer_editor.task_types import Document, Problem

PassRate = Callable[[str, Problem], float | None]
"""``pass_rate(program, problem)``: share of passed tests, or ``None`` if the program could not be run.

Programs come from models: implementations must use a sandbox, and support ``copy.deepcopy`` and ``pickle``.
"""

UNKNOWN = -1.0
"""Value of an unknown statistic, or of a secret one before the end of the match."""


class Measure(NamedTuple):
    """A quality measure of a text.

    Attributes:
        name: its name in statistics.
        best: its maximum; the minimum is 0.
        of: maps a text and its task to the value, or ``None`` if unknown.
    """

    name: str
    best: float
    of: Callable[[str, Any], float | None]

    def measure(self, text: str, task: Problem | Document) -> float:
        """Returns the value, or ``UNKNOWN``."""
        value = self.of(text, task)
        return UNKNOWN if value is None else min(value, self.best)
