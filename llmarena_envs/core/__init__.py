"""Shared parts of all environments: the game contract, the PettingZoo base class, text spaces, prompts and messages."""
