"""Readers of result logs: one module a kind of format, each yields results: battles and judgements."""

from rating.readers.formats import Log, open_log, read_battles, read_judgements

__all__ = ["Log", "open_log", "read_battles", "read_judgements"]
