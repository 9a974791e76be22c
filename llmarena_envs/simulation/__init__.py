"""Simulation of things that answer requests."""
