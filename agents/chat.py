"""The conversation of one seat in one match, which only grows: what training and exported data hold.

A model that plays may forget rejected replies and cut long ones (``agents.models.prompts.history``). A model that is trained must
be given exactly what it saw, and tokens that stand in a conversation must not change below it. So nothing is taken out here.
"""

from collections.abc import Mapping
from typing import Any

from agents.records import encodable
from llmarena_envs.core.options import check_choice

HISTORIES = ("updates", "full", "single_turn")

Message = dict[str, str]
"""``role`` (``system``, ``user`` or ``assistant``) and ``content``."""


class Chat:
    """What a seat reads and says, as messages.

    Args:
        history: ``updates`` says in each turn what is new and keeps what was said before; ``full`` says the whole text in each
            turn and keeps it; ``single_turn`` begins anew in each turn, and goes on only while the seat is asked again.

    Attributes:
        messages: the conversation; beginning anew makes a new list.

    Raises:
        OptionError: if there is no such history.
    """

    def __init__(self, history: str = "updates") -> None:
        check_choice("history", history, HISTORIES)
        self._history = history
        self._whole: list[Message] = []
        self.messages: list[Message] = self._whole

    def hear(self, observation: Mapping[str, Any]) -> list[Message]:
        """Adds what is read, and returns the new messages: all of them where the conversation begins anew.

        A turn that is to be answered without what was said before (``fresh_history``) is a conversation of its own, behind which
        the other one goes on.

        Args:
            observation: a text observation as policies get it, with ``update`` if the history is one of updates.
        """
        fresh = bool(observation.get("fresh_history"))
        said = observation["update" if self._history == "updates" and not fresh else "text"]
        if observation.get("attempt"):
            return self._add([], observation.get("feedback") or said)
        alone = fresh or self._history == "single_turn"
        self.messages = [] if alone else self._whole
        rules = [] if self.messages else [{"role": "system", "content": encodable(observation["rules"])}]
        return self._add(rules, said)

    def _add(self, new: list[Message], said: str) -> list[Message]:
        new.append({"role": "user", "content": encodable(said)})
        self.messages += new
        return new

    def say(self, reply: str) -> None:
        """Adds what the seat replies, word for word."""
        self.messages.append({"role": "assistant", "content": encodable(reply)})
