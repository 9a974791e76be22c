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
    },
    aliases={},
)

if __name__ == "__main__":
    sys.exit(main(PAPER))
