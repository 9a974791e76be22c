"""Schemes: one module a way of comparing policies."""
