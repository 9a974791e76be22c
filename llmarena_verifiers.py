"""The taskset ``llmarena-verifiers``: verifiers finds it by the name of this module; see ``agents.integrations.verifiers``."""

from agents.integrations.verifiers import DealHarness, DealTaskset, MatchEnv

__all__ = ["DealHarness", "DealTaskset", "MatchEnv"]
