"""The end of a match, and the common sentences about it."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from llmarena_envs.core.phrases import Phrases
from llmarena_envs.core.prompts import common_prompts


class Ending(NamedTuple):
    """The end of a match for one agent.

    Attributes:
        reward: total reward of the agent.
        offenders: the agents whose illegal actions ended the match, in seat order; empty if it was played to its end.
    """

    reward: float
    offenders: tuple[str, ...] = ()


class EndingTexts:
    """The common sentences about the end of a match; see ``ending_texts``.

    Args:
        language: language of the texts.
    """

    def __init__(self, language: str) -> None:
        self._render = render = common_prompts(language).render
        self._played_out = render("played_out")
        self._won, self._lost, self._drawn = render("won"), render("lost"), render("drawn")
        self._over = Phrases(self._over_text, limit=1024)
        self._points = Phrases(self._points_text, limit=1024)

    def over(self, cause: str, result: str) -> str:
        """Returns the end of the match with its cause and the reader's result."""
        return self._over[cause, result]

    def forfeit(self, reader: str, offenders: Sequence[str]) -> str:
        """Returns the cause: illegal actions of ``offenders``, who can include the reader, ended the match."""
        if list(offenders) == [reader]:
            return self._render("forfeited_by_you")
        return self._render("forfeited_by", players=", ".join(offenders))

    def played_out(self) -> str:
        """Returns the cause: the match was played to its end."""
        return self._played_out

    def contest(self, reward: float) -> str:
        """Returns the result: the reader has won (a reward above 0), lost (below 0) or drawn."""
        return self._won if reward > 0 else self._lost if reward < 0 else self._drawn

    def points(self, reward: float) -> str:
        """Returns the result in points; ``reward`` is a whole number."""
        return self._points[reward]

    def received(self, reward: float) -> str:
        """Returns the result as a plain reward."""
        return self._render("received", reward=f"{reward:g}")

    def _over_text(self, key: tuple[str, str]) -> str:
        cause, result = key
        return self._render("over", cause=cause, result=result)

    def _points_text(self, reward: float) -> str:
        return self._render("points", points=int(reward))


@cache
def ending_texts(language: str) -> EndingTexts:
    """Returns the shared ``EndingTexts`` of a language."""
    return EndingTexts(language)
