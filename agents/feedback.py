"""What a player is told whose reply was no legal move."""

from functools import cache

from llmarena_envs.core.declaration import role_of
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.replies import read_part

MAX_QUOTED = 500
"""Characters of the rejected reply that are quoted, counted from its end, where the move stands."""

_prompts = cache(lambda language: Prompts("agents", language))


def restate_request(language: str) -> str:
    """Returns the request to restate a reply in the form that was asked for."""
    return _prompts(language).render("restate")


def reason(kind: Failure, message: str, language: str, *, agent: str, incomplete: bool = False) -> str:
    """Returns one line that says what was wrong with a reply.

    Args:
        kind: ``TRUNCATED``, ``EMPTY``, ``REFUSAL``, ``UNPARSABLE`` or ``ILLEGAL``.
        message: what exactly was wrong and what is expected, for the last two kinds.
        language: ``en`` or ``zh``.
        agent: who is asked again; only players of games read that it is a game.
        incomplete: whether the reply has a part of what was asked for, so that the rest is enough.

    Raises:
        OptionError: if there are no texts in the language.
        PromptError: if the kind is no failure of a player.
    """
    name = "incomplete" if incomplete else kind.name.lower()
    if name == "refusal" and role_of(agent) == "player":
        name = "refusal_player"
    return _prompts(language).render(name, message=" ".join(message.split()).rstrip(" .。"))


def feedback(kind: Failure, message: str, reply: str, language: str, *, agent: str, kept: str = "") -> str:
    """Returns the end of the rejected reply and below it the ``reason``, for a player who does not see the reply itself.

    What is marked as reasoning in it is not quoted.

    Args:
        kind: as in ``reason``.
        message: as in ``reason``.
        reply: the rejected reply.
        language: as in ``reason``.
        agent: as in ``reason``.
        kept: what was taken of the reply, which is then quoted instead, as a whole.
    """
    line = reason(kind, message, language, agent=agent, incomplete=bool(kept))
    if kept:
        return _prompts(language).render("kept", kept=kept) + "\n" + line
    shown = read_part(reply).strip()
    if not shown:
        return line
    name = "quoted" if len(shown) <= MAX_QUOTED else "quoted_end"
    return _prompts(language).render(name, reply=shown[-MAX_QUOTED:]) + "\n" + line
