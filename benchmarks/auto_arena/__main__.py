"""The tables and figures of Auto-Arena: ``python -m benchmarks.auto_arena``."""

import sys

from benchmarks.experiments.command import Paper, main

PAPER = Paper(
    name="auto_arena",
    title="Auto-Arena (arXiv 2405.20267)",
    rows={
        "t1": "benchmarks.auto_arena.ranking_7",
        "t4": "benchmarks.auto_arena.ranking_17",
    },
    aliases={},
)

if __name__ == "__main__":
    sys.exit(main(PAPER))
