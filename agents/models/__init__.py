"""Language models as policies."""

from agents.models.client import ClientPool
from agents.models.llm import LLMPolicy

__all__ = ["ClientPool", "LLMPolicy"]
