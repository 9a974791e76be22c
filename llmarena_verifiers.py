"""Deals as a taskset of verifiers, which finds tasksets by the name of a top-level module; see ``agents.integrations.verifiers``."""

from agents.integrations.verifiers import DealHarness, DealTaskset, MatchEnv

__all__ = ["DealHarness", "DealTaskset", "MatchEnv"]
