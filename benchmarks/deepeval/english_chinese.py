"""Translation from English into Chinese (DeepEval, arXiv 2309.04369, Table 6)."""

from benchmarks.deepeval.translation import Languages, make_row

ROW = make_row(Languages("en", "zh", "English to Chinese", "T6_translation_EN-ZH", "Table 6"))
