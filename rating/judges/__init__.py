"""Judgements: judges' verdicts from run records or files, and statistics on the judges."""
