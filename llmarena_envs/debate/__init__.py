"""Debates before a committee of judges."""
