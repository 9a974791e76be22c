"""The tables and figures of LLMArena: ``python -m benchmarks.llmarena``."""

import sys

from benchmarks.experiments.command import Paper, main

PAPER = Paper(
    name="llmarena",
    title="LLMArena (arXiv 2402.16499)",
    rows={
        "f1": "benchmarks.llmarena.transcripts",
        "t1": "benchmarks.llmarena.main_table",
        "t2": "benchmarks.llmarena.hints",
        "f2": "benchmarks.llmarena.random_battles",
        "t3": "benchmarks.llmarena.opponent_modelling",
        "f3": "benchmarks.llmarena.auctions",
        "f4": "benchmarks.llmarena.holdem_risk",
        "f5": "benchmarks.llmarena.hanabi_actions",
        "undercover": "benchmarks.llmarena.undercover",
        "convergence": "benchmarks.llmarena.convergence",
        "missed": "benchmarks.llmarena.missed_chances",
    },
    aliases={"t4": "t1"},
)

if __name__ == "__main__":
    sys.exit(main(PAPER))
