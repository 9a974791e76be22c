"""What the tables of a run leave out: matches without a result, and records of the files that it was made from."""

from collections import Counter
from typing import Protocol

from benchmarks.experiments.runs import PlayedRun
from benchmarks.simulbench.inputs import read_scripts, refusal_notes
from rating.records.outcome import PLAYED


class ScriptFiles(Protocol):
    """Options that name the files of scripts and tasks."""

    @property
    def scripts(self) -> str:
        """The file of scripts."""

    @property
    def tasks(self) -> str:
        """The file of tasks."""

    @property
    def language(self) -> str:
        """Of what comes with the package."""


def omissions(run: PlayedRun, options: ScriptFiles, why: str, count: int) -> list[str]:
    """Says which matches have no result, and which records of the files of scripts and tasks were refused.

    Args:
        run: the run.
        options: its files.
        why: what keeps matches that were played to their end from having a result.
        count: number of those.
    """
    counts = Counter(
        f"of status {outcome.status}"
        for environment in run.environments()
        for outcome in run.outcomes(environment)
        if outcome.status not in PLAYED
    )
    counts[why] = count
    left_out = [f"matches left out, {reason}: {number}" for reason, number in counts.items() if number]
    return [*left_out, *refusal_notes(read_scripts(options.scripts, options.tasks, options.language))]
