"""Models without a server: every request gets a move that depends on its messages only."""

import asyncio
import hashlib
import json

from agents.models.server.client import Client, Response
from agents.policy import Reply

RUN_FILE = """
seed = 4
workers = 1
{extra}
[stop]
min_matches = 4
max_matches = {matches}
[turns]
illegal = "random_legal"
[[environment]]
name = "tictactoe_v0"
[[policy]]
name = "model"
spec = "openai:gpt-x"
options = {{ base_url = "http://localhost:1/v1" }}
[[policy]]
name = "other"
spec = "openai:gpt-y-2"
options = {{ base_url = "http://localhost:1/v1" }}
[[policy]]
spec = "random"
"""

PRICES = """
[[price]]
model = "gpt-x"
input = 100
output = 1000
[[price]]
model = "gpt-y*"
input = 200
output = 2000
"""


def run_file(extra="", tables="", matches=6):
    return RUN_FILE.format(extra=extra, matches=matches) + tables


def answered(text, prompt_tokens, completion_tokens):
    """What ``Client.complete`` returns."""
    return Response(Reply(text, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens), 200, "", {})


class Answers:
    """Replaces the client's requests.

    Attributes:
        sent: number of requests.
        under_way: of them, now; most: ever.
        tokens: read and written in all of them.
    """

    def __init__(self, *, unknown=False):
        self.sent = self.under_way = self.most = self.tokens = 0
        self.unknown = unknown

    async def __call__(self, client, request):
        self.sent += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).digest()
            for _ in range(digest[0] % 5):
                await asyncio.sleep(0)
        finally:
            self.under_way -= 1
        if self.unknown:
            return answered(str(1 + digest[1] % 9), None, None)
        self.tokens += 110
        return answered(str(1 + digest[1] % 9), 100, 10)


def answer(monkeypatch, **options):
    """Lets all models answer without a server."""
    answers = Answers(**options)
    monkeypatch.setattr(Client, "complete", lambda client, request, **options: answers(client, request))
    return answers
