"""Backends that start the runner in isolation, one module each."""
