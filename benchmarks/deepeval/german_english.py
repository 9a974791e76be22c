"""Translation from German into English (DeepEval, arXiv 2309.04369, Table 4)."""

from benchmarks.deepeval.translation import Languages, make_row

ROW = make_row(Languages("de", "en", "German to English", "T4_translation_DE-EN", "Table 4"))
