"""Requests to a model server, and handling of all its responses."""
