"""Salvage: what can still be verified of a run whose database is damaged."""
