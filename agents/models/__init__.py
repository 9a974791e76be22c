"""Language models as policies."""

from agents.models.llm import LLMPolicy

__all__ = ["LLMPolicy"]
