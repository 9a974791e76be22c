"""Transcript of a match as scenes, for a spectator who sees everything."""

from typing import NamedTuple


class Scene(NamedTuple):
    """One entry of a transcript: a message of an agent or of the environment.

    ``text`` is the original message; everything else is written by the environment, in the language of the game.

    Attributes:
        heading: title, e.g. ``Round 1, respond``; without speaker and text, the heading of the following scenes.
        text: the message.
        speaker: the agent who sent it; empty for the environment.
        hidden_from: participants of the conversation who cannot read it.
        marks: highlights for readers, e.g. a changed verdict.
        is_code: whether the message is a program.
    """

    heading: str
    text: str = ""
    speaker: str = ""
    hidden_from: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    is_code: bool = False

    @property
    def remarks(self) -> tuple[str, ...]:
        """The marks, and the agents it is hidden from."""
        return (*self.marks, *([f"hidden from {', '.join(self.hidden_from)}"] if self.hidden_from else []))
