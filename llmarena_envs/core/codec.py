"""The codec contract: what a player reads, and how a reply is read back."""

from abc import ABC, abstractmethod
from typing import Any, Generic, Literal, NamedTuple

from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import InvalidReply, Reason, Refusal
from llmarena_envs.core.game import Action, ViewType
from llmarena_envs.core.prompts import Prompts, common_prompts

Role = Literal["system", "user", "assistant"]


class ChatMessage(NamedTuple):
    """One message of a conversation in native roles.

    Attributes:
        role: ``system`` for the rules, ``assistant`` for the reader's own words, ``user`` for everything else.
        content: the text, never blank.
    """

    role: Role
    content: str


class Codec(ABC, Generic[Action, ViewType]):
    """Texts of one game in one language, made from views, and the grammar of replies.

    Attributes:
        language: language of the texts, e.g. ``en``.
    """

    language: str = "en"

    _prompts: Prompts
    """The game's texts, if it has any; those called ``reason_...`` tell players why a reply is refused."""

    @abstractmethod
    def rules(self, agent: str) -> str:
        """Returns the rules as told to ``agent``: the system prompt, the same at every turn of a match."""

    @abstractmethod
    def observation(self, view: ViewType) -> str:
        """Returns the text that the owner of ``view`` reads: history and state first, the instruction last."""

    def for_person(self, view: ViewType) -> str:
        """Returns the observation as a person reads it who is to move: without a call for written reasoning or for JSON.

        By default the observation; games that ask models for one of these override this.
        """
        return self.observation(view)

    def update(self, view: ViewType, since: ViewType) -> str:
        """Returns what the owner of ``view`` reads who has read an earlier text: only what is new, and the instruction.

        By default that is the whole text again. Games whose texts repeat the history override this, so that a conversation
        holds each line once. It must not lose anything: every line of ``observation(view)`` stands in what was read before or
        in the update, as often as it stands there. Of a line that has changed only in part, such as a growing list or an
        instruction that may be said shortly, it is enough that every piece between punctuation marks stands there. What
        is to be answered without what was said before (``fresh``) is told whole.

        Args:
            view: of the position now.
            since: of the same agent in the same match, when it was asked before and read its text or an update.
        """
        return self.observation(view)

    def chat(self, view: ViewType) -> tuple[ChatMessage, ...] | None:
        """Returns the match as a conversation for the owner of ``view``; ``None`` without such a form, and for one not to move.

        It begins with ``system``; ``user`` and ``assistant`` alternate, and ``user`` is last. Games with dialogues override this.
        """
        return None

    def ending(self, view: ViewType, ending: Ending) -> str:
        """Returns the text that the owner of ``view`` reads once the match is over: history, state and how it ended.

        Games override this to say by what the match ended, and what that means for the reader.
        """
        texts = ending_texts(self.language)
        cause = texts.forfeit(view.agent, ending.offenders) if ending.offenders else texts.played_out()
        return f"{self.observation(view)}\n{texts.over(cause, texts.received(ending.reward))}"

    @abstractmethod
    def read(self, reply: str, view: ViewType) -> Action:
        """Reads the move out of a reply, by ``llmarena_envs.core.replies.find``.

        Legality is not checked here, except for what the grammar itself excludes.

        Raises:
            Refusal: with kind ``UNPARSABLE`` if no move is stated, ``ILLEGAL`` if the stated one cannot exist.
        """

    def may_be_empty(self, view: ViewType) -> bool:
        """Says whether an empty reply may be a move; by default it is none. One cut off in its reasoning never is."""
        return False

    def parse(self, reply: str, view: ViewType) -> Action:
        """Reads the move out of a reply; see ``read``.

        Raises:
            InvalidReply: with the reason in the language of the texts.
        """
        try:
            return self.read(reply, view)
        except Refusal as refusal:
            raise InvalidReply(refusal.kind, self.explain(refusal.reason, view), refusal.kept) from None

    def example(self, view: ViewType) -> str:
        """Returns a reply in the published form, for reasons that say what is expected."""
        return self.format(view.legal[0], view) if view.legal else ""

    def explain(self, reason: Reason, view: ViewType) -> str:
        """Returns the text of a reason: the game's own ``reason_<name>``, or the one that all games share.

        Placeholders are the reason's fields, each in one line, ``{agent}`` and ``{example}``.
        """
        name = f"reason_{reason.name}"
        own: Prompts | None = getattr(self, "_prompts", None)
        template = own[name] if own is not None and name in own else common_prompts(self.language)[name]
        fields = {key: " ".join(str(value).split()) for key, value in reason.fields.items()}
        example = self.example(view) if "example" in template.placeholders else ""
        return template.render(**{"agent": view.agent, "example": example, **fields})

    @abstractmethod
    def format(self, action: Action, view: ViewType) -> str:
        """Writes ``action`` in the published grammar; ``parse`` reads it back."""

    @abstractmethod
    def picture(self, game: Any) -> str:
        """Draws the whole position for a spectator who may see everything."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Codec[Action, ViewType]":
        """Returns itself: a codec keeps nothing of a match, so that copies of an environment can share it."""
        return self
