"""The experiments of DeepEval (arXiv 2309.04369): one module per table or figure."""
