"""The tables and figures of DeepEval: ``python -m benchmarks.deepeval``."""

import sys

from benchmarks.experiments.command import Paper, main

PAPER = Paper(
    name="deepeval",
    title="DeepEval (arXiv 2309.04369)",
    rows={
        "t1": "benchmarks.deepeval.idioms",
        "f4a": "benchmarks.deepeval.pay_offs_mode_1",
        "f4b": "benchmarks.deepeval.pay_offs_mode_2",
        "t3": "benchmarks.deepeval.code_review",
        "t4": "benchmarks.deepeval.german_english",
        "t5": "benchmarks.deepeval.english_french",
        "t6": "benchmarks.deepeval.english_chinese",
        "transcripts": "benchmarks.deepeval.transcripts",
        "stability": "benchmarks.deepeval.stability",
    },
    aliases={"t2": "t1"},
)

if __name__ == "__main__":
    sys.exit(main(PAPER))
