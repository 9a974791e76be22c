"""The experiments of SimulBench (arXiv 2409.07641)."""
