"""The taskset ``llmarena-verifiers``, found by verifiers under its module name; see ``agents.integrations.verifiers``."""

from agents.integrations.verifiers import DealHarness, DealTaskset, MatchEnv

__all__ = ["DealHarness", "DealTaskset", "MatchEnv"]
