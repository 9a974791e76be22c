"""Schemes: one module for each way of comparing policies."""
