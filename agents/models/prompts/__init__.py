"""Prompts for models: the messages of a match, and the requested form of replies."""
