"""Narration: the story of a match, told in scenes to a spectator who may see everything."""

from typing import NamedTuple


class Scene(NamedTuple):
    """One piece of a story: what somebody said, or what the environment tells.

    Everything but ``text`` is the environment's own, in the language of the game; ``text`` is what was said, as it was said.

    Attributes:
        heading: what it is, e.g. ``Round 1, respond``; with neither speaker nor text, the heading of what follows.
        text: what was said, or what the environment tells.
        speaker: the agent who said it; empty for the environment.
        hidden_from: the agents who take part in the conversation and may not read it.
        marks: what a reader is not to miss about it, e.g. that a verdict was changed.
    """

    heading: str
    text: str = ""
    speaker: str = ""
    hidden_from: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """The marks, and from whom it is hidden."""
        return (*self.marks, *([f"hidden from {', '.join(self.hidden_from)}"] if self.hidden_from else []))
