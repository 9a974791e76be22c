"""Language models as policies."""

from agents.models.llm import LLMPolicy
from agents.models.service import ModelService

__all__ = ["LLMPolicy", "ModelService"]
