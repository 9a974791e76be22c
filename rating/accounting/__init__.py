"""Prices, token usage and cost of model calls."""
