"""Readers of result logs: one module a kind of format, each yields battles; ``open_log`` recognises the format."""

from rating.readers.formats import Log, open_log, read_battles, read_judgements

__all__ = ["Log", "open_log", "read_battles", "read_judgements"]
