"""The experiments of Auto-Arena (arXiv 2405.20267v1): one module a table or figure."""
