"""Feedback to a player after an invalid reply."""

from functools import cache

from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.replies import read_part

MAX_QUOTED = 500
"""Most characters quoted of a rejected reply, from its end, where the move is."""

_prompts = cache(lambda language: Prompts("agents", language))


def restate_request(language: str) -> str:
    """Returns the request to restate a reply in the requested form."""
    return _prompts(language).render("restate")


def reason(kind: Failure, message: str, language: str, *, agent: str, incomplete: bool = False) -> str:
    """Returns one line that describes the error in a reply.

    Args:
        kind: ``TRUNCATED``, ``EMPTY``, ``REFUSAL``, ``UNPARSABLE`` or ``ILLEGAL``.
        message: the exact error and the expected form, for the last two kinds.
        language: ``en`` or ``zh``.
        agent: the agent asked again; the wording for players of a game differs.
        incomplete: whether the reply has a valid part, so only the rest is missing.

    Raises:
        OptionError: if there are no texts in the language.
        PromptError: if the kind is not a player's failure.
    """
    name = "incomplete" if incomplete else kind.name.lower()
    if name == "refusal" and role_of(agent) == "player":
        name = "refusal_player"
    return _prompts(language).render(name, message=" ".join(message.split()).rstrip(" .。"))


def feedback(kind: Failure, message: str, reply: str, language: str, *, agent: str, kept: str = "") -> str:
    """Returns the end of the rejected reply followed by the ``reason``, for prompts without the reply itself.

    Marked reasoning is not quoted.

    Args:
        kind: as in ``reason``.
        message: as in ``reason``.
        reply: the rejected reply.
        language: as in ``reason``.
        agent: as in ``reason``.
        kept: the accepted part of the reply, quoted in full instead.
    """
    line = reason(kind, message, language, agent=agent, incomplete=bool(kept))
    if kept:
        return _prompts(language).render("kept", kept=kept) + "\n" + line
    shown = read_part(reply).strip()
    if not shown:
        return line
    name = "quoted" if len(shown) <= MAX_QUOTED else "quoted_end"
    return _prompts(language).render(name, reply=shown[-MAX_QUOTED:]) + "\n" + line
