"""The scripted policies of LLMArena's games."""

from benchmarks.experiments.pool import Scripted

SCRIPTED: Scripted = {
    "tictactoe_v0": ("random", "greedy", "minimax"),
    "connect_four_v0": ("random", "greedy", "minimax"),
    "holdem_v0": ("random", "call", "tight", "strength=strength:samples=200"),
    "undercover_v0": ("random", "similarity", "silent"),
    "bargain_v0": ("random", "fair", "concession"),
    "bid_v0": ("random", "truthful", "half"),
    "hanabi_v0": ("random", "convention"),
}
"""Scripted policies of each game, ordered by known strength (docs/llmarena.md)."""
