"""How a match ended, and the sentences about it that games share."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from llmarena_envs.core.phrases import Phrases
from llmarena_envs.core.prompts import common_prompts


class Ending(NamedTuple):
    """How a match ended for one of its agents.

    Attributes:
        reward: what the agent received over the whole match.
        offenders: the agents whose illegal actions ended it, in seat order; none if it was played to its end.
    """

    reward: float
    offenders: tuple[str, ...] = ()


class EndingTexts:
    """The sentences about an end that are the same in all games; see ``ending_texts``.

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
        """Returns that the match is over, by what, and what came of it for the reader."""
        return self._over[cause, result]

    def forfeit(self, reader: str, offenders: Sequence[str]) -> str:
        """Returns that illegal actions of ``offenders``, the reader perhaps among them, ended the match."""
        if list(offenders) == [reader]:
            return self._render("forfeited_by_you")
        return self._render("forfeited_by", players=", ".join(offenders))

    def played_out(self) -> str:
        """Returns that the match came to its end by itself."""
        return self._played_out

    def contest(self, reward: float) -> str:
        """Returns that the reader has won (a reward above 0), lost (below 0) or drawn."""
        return self._won if reward > 0 else self._lost if reward < 0 else self._drawn

    def points(self, reward: float) -> str:
        """Returns how many points, a whole number, the reader receives."""
        return self._points[reward]

    def received(self, reward: float) -> str:
        """Returns what the reader's reward is, in a game that has no word of its own for it."""
        return self._render("received", reward=f"{reward:g}")

    def _over_text(self, key: tuple[str, str]) -> str:
        cause, result = key
        return self._render("over", cause=cause, result=result)

    def _points_text(self, reward: float) -> str:
        return self._render("points", points=int(reward))


@cache
def ending_texts(language: str) -> EndingTexts:
    """Returns the sentences about an end in a language, one object for all games."""
    return EndingTexts(language)
