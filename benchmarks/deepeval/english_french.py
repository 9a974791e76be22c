"""Translation from English into French (DeepEval, arXiv 2309.04369, Table 5)."""

from benchmarks.deepeval.translation import Languages, make_row

ROW = make_row(Languages("en", "fr", "English to French", "T5_translation_EN-FR", "Table 5"))
