"""The experiments of Auto-Arena (arXiv 2405.20267v1): one module per table or figure."""
