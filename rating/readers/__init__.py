"""Import of external result logs: one module per format, the import directory, and a common interface to all sources."""

from rating.readers.formats import read_battles

__all__ = ["read_battles"]
