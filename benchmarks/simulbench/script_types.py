"""The types of scripts: last turns without a challenge, first challenging turns, and later ones (SimulBench, Figure 3b)."""

from collections.abc import Mapping

from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.simulbench.answers import (
    RUN,
    ScriptOptions,
    answered,
    describe_size,
    left_out,
    plan_answers,
    subset_means,
)
from benchmarks.simulbench.main_scores import count_table, score_table
from llmarena_envs.simulation.labels import LABELS


def measure(runs: Mapping[str, PlayedRun], options: ScriptOptions) -> Result:
    """Returns the scores on all types of scripts."""
    run = runs[RUN]
    answers = answered(run)
    shown = {
        f"{simulator}, {label}": value
        for simulator, values in subset_means(answers, LABELS).items()
        for label, value in zip(LABELS, values, strict=True)
    }
    return Result(
        [
            score_table(answers, LABELS, options.published_as(), "scores", "mean scores, 1 to 10, by type of script"),
            count_table(answers),
        ],
        {"scores": estimates(shown, "mean score, 1 to 10, with 95 % interval")},
        notes=left_out(run, answers, options),
    )


ROW = Row(
    title="scores by type of script: LastOnly, FirstChan and SubseqChan",
    source="SimulBench, Figure 3b",
    options=ScriptOptions,
    plan=plan_answers,
    measure=measure,
    precision=describe_size,
    shows="It shows how scores fall from turns without a challenge to the first challenging turn and those after it.",
    does_not_show=(
        "It does not show why: later turns of collected dialogues follow a wrong answer, which simulators may repeat. In the"
        " dialogues of the package all answers are right."
    ),
    any_manner=True,
)
