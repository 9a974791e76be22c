"""The codec contract: what a player reads, and how a reply is read back."""

from abc import ABC, abstractmethod
from typing import Any

from llmarena_envs.core.ending import Ending, EndingTexts


class Codec(ABC):
    """Texts of one game in one language, made from views, and the grammar of replies.

    Attributes:
        language: language of the texts, e.g. ``en``.
    """

    language: str = "en"

    @abstractmethod
    def rules(self, agent: str) -> str:
        """Returns the rules as told to ``agent``: the system prompt, the same at every turn of a match."""

    @abstractmethod
    def observation(self, view: Any) -> str:
        """Returns the text that the owner of ``view`` reads: history and state first, the instruction last."""

    def ending(self, view: Any, ending: Ending) -> str:
        """Returns the text that the owner of ``view`` reads once the match is over: history, state and how it ended.

        Games override this to say by what the match ended, and what that means for the reader.
        """
        texts = EndingTexts(self.language)
        cause = texts.forfeit(view.agent, ending.offenders) if ending.offenders else texts.played_out()
        return f"{self.observation(view)}\n{texts.over(cause, texts.received(ending.reward))}"

    @abstractmethod
    def parse(self, reply: str, view: Any) -> Any:
        """Reads the move out of a reply: the last statement of a move counts, prose is never guessed into one.

        Legality is not checked here, except for what the grammar itself excludes.

        Raises:
            InvalidReply: with kind ``UNPARSABLE`` if no move is stated, ``ILLEGAL`` if the stated one cannot exist.
        """

    @abstractmethod
    def format(self, action: Any, view: Any) -> str:
        """Writes ``action`` in the published grammar; ``parse`` reads it back."""

    @abstractmethod
    def picture(self, game: Any) -> str:
        """Draws the whole position for a spectator who may see everything."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Codec":
        """Returns itself: a codec keeps nothing of a match, so that copies of an environment can share it."""
        return self
