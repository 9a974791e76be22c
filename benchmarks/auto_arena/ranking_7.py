"""Correlation with a human ranking, 7 models (Auto-Arena, arXiv 2405.20267, section 4.2, Table 1)."""

from benchmarks.auto_arena.rankings import make_row

ROW = make_row(7, "Table 1", "T1_7models", "Arena, English, 2024-05-27", ("T1_spearman",))
