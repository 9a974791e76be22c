"""Shared code of the paper experiments: a row is one table or figure, with its planned runs, measurement and output files."""
