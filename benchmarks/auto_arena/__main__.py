"""The tables and figures of Auto-Arena: ``python -m benchmarks.auto_arena``."""

import sys

from benchmarks.experiments.command import Paper, main

PAPER = Paper(
    name="auto_arena",
    title="Auto-Arena (arXiv 2405.20267v1)",
    rows={
        "questions": "benchmarks.auto_arena.questions",
        "battle": "benchmarks.auto_arena.battle",
        "tournament": "benchmarks.auto_arena.tournament",
        "t1": "benchmarks.auto_arena.rankings:SEVEN_PLAYERS",
        "t2": "benchmarks.auto_arena.first_answers",
        "f3": "benchmarks.auto_arena.kappas",
        "t3": "benchmarks.auto_arena.agreement_probability",
        "f5": "benchmarks.auto_arena.newcomer",
        "f6": "benchmarks.auto_arena.rankings:CHINESE",
        "t4": "benchmarks.auto_arena.rankings:SEVENTEEN_PLAYERS",
        "f8-f10": "benchmarks.auto_arena.transcripts",
        "discussion": "benchmarks.auto_arena.discussion",
        "selfenh": "benchmarks.auto_arena.self_enhancement",
        "contam": "benchmarks.auto_arena.contamination",
        "human": "benchmarks.auto_arena.human",
    },
    aliases={"f4": "f3", "f7": "t4"},
)

if __name__ == "__main__":
    sys.exit(main(PAPER))
