"""What a model is sent of a match: the rules, what was said before, and what is said now."""

from collections.abc import Mapping
from typing import Any

from agents.records import encodable

Message = dict[str, str]
"""A chat message: ``role`` and ``content``."""


class Conversation:
    """What was said between a model and a game in one match.

    Args:
        keeps_history: whether what was said before is sent again.
        system_role: role of the message that holds the rules; with ``user`` they stand at the beginning of the first user
            message.
    """

    def __init__(self, keeps_history: bool, system_role: str) -> None:
        self._keeps_history = keeps_history
        self._system_role = system_role
        self._history: list[Message] = []
        self._turn_start = 0

    def next_message(self, observation: Mapping[str, Any]) -> str:
        """Returns what to say next, and takes out of the history what it replaces.

        Nothing is said twice: after a rejected reply only the feedback follows; without feedback the turn begins anew, as
        if nothing had been said. An empty reply is taken out too, since many servers accept no empty message.
        """
        if not observation.get("attempt"):
            self._turn_start = len(self._history)
        elif not observation.get("feedback"):
            del self._history[self._turn_start :]
        elif len(self._history) > self._turn_start and not self._history[-1]["content"].strip():
            del self._history[-2:]
        begins = len(self._history) == self._turn_start
        return encodable(observation["text"] if begins else observation["feedback"])

    def messages(self, rules: str, user: str, *, fresh: bool = False) -> list[Message]:
        """Returns what is sent: the rules, the history, and what to say next.

        Args:
            rules: the rules.
            user: what to say next.
            fresh: whether the turn is answered without what was said in earlier ones.
        """
        conversation = [*self._history[self._turn_start if fresh else 0 :], {"role": "user", "content": user}]
        rules = encodable(rules)
        if self._system_role == "user":
            first = {"role": "user", "content": f"{rules}\n\n{conversation[0]['content']}"}
            return [first, *conversation[1:]]
        return [{"role": self._system_role, "content": rules}, *conversation]

    def remember(self, user: str, reply: str) -> None:
        """Adds what was said and what was replied."""
        if self._keeps_history:
            self._history += [{"role": "user", "content": user}, {"role": "assistant", "content": reply}]

    def recall(self, observation: Mapping[str, Any], reply: str) -> None:
        """Lives through a call that was made before an interruption."""
        self.remember(self.next_message(observation), encodable(reply))
