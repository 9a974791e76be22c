"""Policies as OpenAI-compatible chat servers, so that other tools play against them."""
