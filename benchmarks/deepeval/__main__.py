"""The tables and figures of DeepEval: ``python -m benchmarks.deepeval``."""

import sys

from benchmarks.experiments.command import Paper, main

PAPER = Paper(
    name="deepeval",
    title="DeepEval (arXiv 2309.04369)",
    rows={
        "t1": "benchmarks.deepeval.idioms",
        "f4a": "benchmarks.deepeval.pay_offs:PRIVATE",
        "f4b": "benchmarks.deepeval.pay_offs:PUBLIC",
        "t3": "benchmarks.deepeval.code_review",
        "t4": "benchmarks.deepeval.translation:GERMAN_ENGLISH",
        "t5": "benchmarks.deepeval.translation:ENGLISH_FRENCH",
        "t6": "benchmarks.deepeval.translation:ENGLISH_CHINESE",
        "transcripts": "benchmarks.deepeval.transcripts",
        "stability": "benchmarks.deepeval.stability",
    },
    aliases={"t2": "t1"},
)

if __name__ == "__main__":
    sys.exit(main(PAPER))
