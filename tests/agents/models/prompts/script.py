"""A model that answers by a script, without a server."""

from agents.models.llm import LLMPolicy
from agents.models.service import ModelService
from agents.policy import Reply


class Script(ModelService):
    """Answers by what it was given, and keeps what it was asked."""

    def __init__(self, replies):
        super().__init__()
        self._replies = iter(replies)
        self.requests = []

    async def complete(self, target, request, *, agent, sample):
        self.requests.append(request)
        reply = next(self._replies)
        return reply if isinstance(reply, Reply) else Reply(reply, calls=1)


def policy_with(replies, **options):
    service = Script(replies)
    return LLMPolicy("mock", base_url="http://localhost/v1", service=service, **options), service.requests
