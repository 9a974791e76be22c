"""The append-only conversation of one seat in one match, for training and exported data.

Models in play can drop rejected replies and cut long ones (``agents.models.prompts``). Training needs exactly the tokens
that the model saw, so nothing is removed here.
"""

from collections.abc import Mapping
from typing import Any

from agents.records import encodable
from llmarena_envs.core.options import check_choice

HISTORIES = ("updates", "full", "single_turn")

Message = dict[str, str]
"""``role`` (``system``, ``user`` or ``assistant``) and ``content``."""


class Chat:
    """Messages read and written by a seat.

    Args:
        history: ``updates`` gives the news in each turn and keeps earlier messages; ``full`` gives the whole text in each turn
            and keeps it; ``single_turn`` starts a new conversation in each turn, continued only if the seat is asked again.

    Attributes:
        messages: the conversation; a new conversation is a new list.

    Raises:
        OptionError: if there is no such history.
    """

    def __init__(self, history: str = "updates") -> None:
        check_choice("history", history, HISTORIES)
        self._history = history
        self._whole: list[Message] = []
        self.messages: list[Message] = self._whole

    def hear(self, observation: Mapping[str, Any]) -> list[Message]:
        """Adds an observation, and returns the new messages.

        A turn with ``fresh_history`` is a separate conversation; the main one continues after it.

        Args:
            observation: a text observation, with ``update`` if the history is ``updates``.
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
        """Adds the seat's reply, unchanged."""
        self.messages.append({"role": "assistant", "content": encodable(reply)})
