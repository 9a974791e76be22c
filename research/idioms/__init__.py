"""The tables of idiom solitaire: ``python -m research.idioms.build``."""
