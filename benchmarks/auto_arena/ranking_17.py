"""Correlation with a human ranking, 17 models (Auto-Arena, arXiv 2405.20267, Table 4)."""

from benchmarks.auto_arena.rankings import make_row

ROW = make_row(17, "Table 4", "T4_17models", "Arena", ("T4_correlations", "concordance_17models"))
