"""Scores of models on shared cases, one model per file: every case shared by two models is a result of the two."""

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from llmarena_envs.core.options import OptionError
from rating.readers.results import MOST_BATTLES, Result, battle_of

_SEPARATORS = re.compile("[,/]")


class Case(NamedTuple):
    """A scored case: a document of a task."""

    task: str
    document: str


Scores = dict[Case, dict[str, list[float]]]
"""Scores by case and model; several if a model did a case several times, which are averaged."""


def plain_number(value: Any) -> float | None:
    """Returns a JSON value as a finite number, true as 1 and false as 0; ``None`` for anything else."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


class Metrics:
    """Scores by metric; files may hold several metrics, one of them is compared."""

    def __init__(self) -> None:
        self._scores: dict[str, Scores] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))

    def add(self, metric: str, case: Case, model: str, value: float) -> None:
        """Adds the score of a model on a case by a metric; larger is better."""
        self._scores[metric][case][model].append(value)

    def results(self, metric: str) -> Iterator[Result]:
        """Yields the results of all pairs of models.

        Args:
            metric: full name of the metric, or its part before a comma or slash if unambiguous; empty for the only one.

        Raises:
            OptionError: if there is no score, no such metric, or several, no two models share a case, or there are too many
                results.
        """
        if not self._scores:
            raise OptionError("expected scores, got none that is a number")
        fitting = [name for name in self._scores if metric in ("", name, _SEPARATORS.split(name, maxsplit=1)[0])]
        if metric in fitting:
            fitting = [metric]
        if len(fitting) != 1:
            names = ", ".join(sorted(self._scores))
            raise OptionError(
                f"expected --metric with one of the metrics in the files ({names}), got {metric or 'none'!r}"
            )
        return _results(self._scores[fitting[0]])


def _results(scores: Scores) -> Iterator[Result]:
    shared = sum(len(values) * (len(values) - 1) // 2 for values in scores.values())
    if not shared:
        models = sorted({model for values in scores.values() for model in values})
        raise OptionError(
            "expected files of two models or more with cases in common, got"
            f" {', '.join(models) or 'no score'}{' without one' if len(models) > 1 else ''}"
        )
    if shared > MOST_BATTLES:
        raise OptionError(f"expected at most {MOST_BATTLES} pairs of scores, got {shared}; read fewer files at once")
    for case, values in scores.items():
        means = {model: sum(found) / len(found) for model, found in sorted(values.items())}
        for first, second in itertools.combinations(means, 2):
            score = 0.5 + 0.5 * ((means[first] > means[second]) - (means[first] < means[second]))
            yield Result(battle_of((first, second), score, f"{case.task}: {case.document}"), case.task)
