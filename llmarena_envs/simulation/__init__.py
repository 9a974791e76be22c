"""Simulation of interactive systems."""
