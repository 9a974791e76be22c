"""The experiments of LLMArena (arXiv 2402.16499): one module per table or figure."""
