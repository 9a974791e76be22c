"""A codec whose texts are renamed, and whose replies are read under the new names."""

from typing import Any

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.ending import Ending
from llmarena_envs.core.failures import Reason
from llmarena_envs.isomorph.renaming import Renaming


class DisguisedCodec(Codec[Any, Any]):
    """The texts of another codec under a renaming.

    Args:
        codec: the codec of the game.
        renaming: the renaming.
    """

    def __init__(self, codec: Codec[Any, Any], renaming: Renaming) -> None:
        self.plain = codec
        self.renaming = renaming
        self.language = codec.language

    def rules(self, agent: str) -> str:
        """Returns the renamed rules."""
        return self.renaming.write(self.plain.rules(agent))

    def observation(self, view: Any) -> str:
        """Returns the renamed observation."""
        return self.renaming.write(self.plain.observation(view))

    def for_person(self, view: Any) -> str:
        """Returns the renamed observation for a person."""
        return self.renaming.write(self.plain.for_person(view))

    def update(self, view: Any, since: Any) -> str:
        """Returns the renamed news."""
        return self.renaming.write(self.plain.update(view, since))

    def ending(self, view: Any, ending: Ending) -> str:
        """Returns the renamed text after the match."""
        return self.renaming.write(self.plain.ending(view, ending))

    def read(self, reply: str, view: Any) -> Any:
        """Parses a reply in the new names."""
        return self.plain.read(self.renaming.read(reply), view)

    def may_be_empty(self, view: Any) -> bool:
        """Says whether an empty reply is a move."""
        return self.plain.may_be_empty(view)

    def example(self, view: Any) -> str:
        """Returns the renamed example."""
        return self.renaming.write(self.plain.example(view))

    def explain(self, reason: Reason, view: Any) -> str:
        """Returns the renamed reason."""
        return self.renaming.write(self.plain.explain(reason, view))

    def format(self, action: Any, view: Any) -> str:
        """Writes an action in the new names."""
        return self.renaming.write(self.plain.format(action, view))

    def picture(self, game: Any) -> str:
        """Returns the renamed text for a spectator."""
        return self.renaming.write(self.plain.picture(game))
