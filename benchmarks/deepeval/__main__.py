"""The tables and figures of DeepEval: ``python -m benchmarks.deepeval``."""

import sys

from benchmarks.experiments.command import Paper, main

PAPER = Paper(name="deepeval", title="DeepEval (arXiv 2309.04369)", rows={}, aliases={})

if __name__ == "__main__":
    sys.exit(main(PAPER))
