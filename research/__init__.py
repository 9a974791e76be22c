"""Studies of the statistics: coverage, false alarms, games needed. Each is a command, ``python -m research.NAME``."""
