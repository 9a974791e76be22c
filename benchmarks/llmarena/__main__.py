"""The tables and figures of LLMArena: ``python -m benchmarks.llmarena``."""

import sys

from benchmarks.experiments.command import Paper, main

PAPER = Paper(
    name="llmarena",
    title="LLMArena (arXiv 2402.16499)",
    rows={
        "t2": "benchmarks.llmarena.hints",
        "missed": "benchmarks.llmarena.missed_chances",
    },
    aliases={"t4": "t1"},
)

if __name__ == "__main__":
    sys.exit(main(PAPER))
