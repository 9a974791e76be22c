"""The tables and figures of SimulBench: ``python -m benchmarks.simulbench``."""

import sys

from benchmarks.experiments.command import Paper, main

PAPER = Paper(
    name="simulbench",
    title="SimulBench (arXiv 2409.07641)",
    rows={
        "tasks": "benchmarks.simulbench.tasks",
        "collect": "benchmarks.simulbench.collect",
        "extract": "benchmarks.simulbench.extract",
        "evaluate": "benchmarks.simulbench.evaluate",
        "compare": "benchmarks.simulbench.compare",
        "f2": "benchmarks.simulbench.main_scores:MAIN_SCORES",
        "f3a": "benchmarks.simulbench.main_scores:TASK_TYPES",
        "f3b": "benchmarks.simulbench.main_scores:SCRIPT_TYPES",
        "t1": "benchmarks.simulbench.pairwise",
        "t2": "benchmarks.simulbench.hardest_tasks",
        "audit": "benchmarks.simulbench.audit",
        "t3": "benchmarks.simulbench.toxicity.row",
        "dynamic": "benchmarks.simulbench.dynamic_users",
        "truth": "benchmarks.simulbench.truth",
    },
    aliases={"t4": "f2"},
)

if __name__ == "__main__":
    sys.exit(main(PAPER))
