"""The codec contract: texts for players, and parsing of replies."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, Literal, NamedTuple

from llmarena_envs.core.ending import Ending, ending_texts
from llmarena_envs.core.failures import InvalidReply, ParseError, Reason
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


class ReplyPart(NamedTuple):
    """A part of a reply, as a field of a form.

    Attributes:
        name: name of the part.
        label: label of the field, in the language of the texts.
        choices: the allowed texts; empty for free text.
        lines: height of the field for free text.
    """

    name: str
    label: str
    choices: tuple[str, ...] = ()
    lines: int = 4


class Codec(ABC, Generic[Action, ViewType]):
    """Texts of one game in one language, made from views, and the grammar of replies.

    Attributes:
        language: language of the texts, e.g. ``en``.
    """

    language: str = "en"

    _prompts: Prompts
    """The game's texts, if it has any; texts named ``reason_...`` explain to players why a reply is refused."""

    @abstractmethod
    def rules(self, agent: str) -> str:
        """Returns the rules for ``agent``: the system prompt, the same at every turn of a match."""

    @abstractmethod
    def observation(self, view: ViewType) -> str:
        """Returns the text that the owner of ``view`` reads: history and state first, the instruction last."""

    def for_person(self, view: ViewType) -> str:
        """Returns the observation for a human player: without a request for written reasoning or JSON.

        By default the observation; games with such requests override this.
        """
        return self.observation(view)

    def update(self, view: ViewType, since: ViewType) -> str:
        """Returns the news since an earlier text for the owner of ``view``, and the instruction.

        By default the whole text again. Games whose texts repeat the history override this to send each line of a
        conversation once. An update must be complete: every line of ``observation(view)`` occurs in the earlier texts or in
        the update, as often as in the observation. For a line that has changed only in part, such as a growing list or a
        shortened instruction, it is enough that every piece between punctuation marks occurs. Turns that are answered without
        the history (``fresh``) get the whole text.

        Args:
            view: view of the present position.
            since: view of the same agent in the same match at its previous text or update.
        """
        return self.observation(view)

    def chat(self, view: ViewType) -> tuple[ChatMessage, ...] | None:
        """Returns the match as a conversation for the owner of ``view``; ``None`` if unsupported or if the owner is not to move.

        It begins with ``system``; ``user`` and ``assistant`` alternate, and ``user`` is last. Games with dialogues override this.
        """
        return None

    def ending(self, view: ViewType, ending: Ending) -> str:
        """Returns the text for the owner of ``view`` after the match: history, state and the end.

        Games override this to state the cause of the end and the result for the reader.
        """
        texts = ending_texts(self.language)
        cause = texts.forfeit(view.agent, ending.offenders) if ending.offenders else texts.played_out()
        return f"{self.observation(view)}\n{texts.over(cause, texts.received(ending.reward))}"

    @abstractmethod
    def read(self, reply: str, view: ViewType) -> Action:
        """Parses the move of a reply with ``llmarena_envs.core.replies.find``.

        Legality is not checked here, except for moves that the grammar excludes.

        Raises:
            ParseError: with kind ``UNPARSABLE`` if no move is stated, ``ILLEGAL`` if the stated one cannot exist.
        """

    def parts(self, view: ViewType) -> tuple[ReplyPart, ...]:
        """Returns the parts of a reply, so that people need not write tags, code fences or JSON.

        By default there are none: a reply is one text.
        """
        return ()

    def join_parts(self, texts: Mapping[str, str], view: ViewType) -> str:
        """Returns the reply made of the texts of its ``parts``, by name; ``parse`` reads each of them back.

        Marks inside a text, such as tags, cannot end its part: they are replaced where they would. Empty texts are missing
        parts.
        """
        raise NotImplementedError

    def may_be_empty(self, view: ViewType) -> bool:
        """Says whether an empty reply is a move; by default not. A reply cut off in its reasoning never is."""
        return False

    def parse(self, reply: str, view: ViewType) -> Action:
        """Parses the move of a reply; see ``read``.

        Raises:
            InvalidReply: with the reason in the language of the texts.
        """
        try:
            return self.read(reply, view)
        except ParseError as error:
            raise InvalidReply(error.kind, self.explain(error.reason, view), error.kept) from None

    def example(self, view: ViewType) -> str:
        """Returns a reply in the published form, for reasons that show an example."""
        return self.format(view.legal[0], view) if view.legal else ""

    def explain(self, reason: Reason, view: ViewType) -> str:
        """Returns the text of a reason: the game's own ``reason_<name>``, or the common one.

        See ``render_reason``.
        """
        own: Prompts | None = getattr(self, "_prompts", None)
        return render_reason(own, self.language, reason, view.agent, lambda: self.example(view))

    @abstractmethod
    def format(self, action: Action, view: ViewType) -> str:
        """Writes ``action`` in the published grammar; ``parse`` reads it back."""

    @abstractmethod
    def picture(self, game: Any) -> str:
        """Draws the whole position as text for a spectator who sees everything."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Codec[Action, ViewType]":
        """Returns itself: a codec holds no state of a match, so copies of an environment share it."""
        return self


def render_reason(
    prompts: Prompts | None, language: str, reason: Reason, agent: str, example: Callable[[], str]
) -> str:
    """Returns the text of a reason: ``reason_<name>`` of the given texts, or the common one.

    Placeholders are the reason's fields, each as a single line, ``{agent}`` and ``{example}``.

    Args:
        prompts: own texts, if any.
        language: of the common texts.
        reason: the reason.
        agent: the agent addressed.
        example: returns the form of a reply.
    """
    name = f"reason_{reason.name}"
    common = common_prompts(language)
    template = prompts[name] if prompts is not None and (name in prompts or name not in common) else common[name]
    fields = {key: " ".join(str(value).split()) for key, value in reason.fields.items()}
    shown = example() if "example" in template.placeholders else ""
    return template.render(**{"agent": agent, "example": shown, **fields})
