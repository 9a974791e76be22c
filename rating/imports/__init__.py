"""Logs of others: one module a format, the directory in which an import is kept, and what opens it or a run alike."""

from rating.imports.formats import read_battles

__all__ = ["read_battles"]
