"""How a match ended, and the sentences about it that games share."""

from collections.abc import Sequence
from typing import NamedTuple

from llmarena_envs.core.prompts import Prompts


class Ending(NamedTuple):
    """How a match ended for one of its agents.

    Attributes:
        reward: what the agent received over the whole match.
        offenders: the agents whose illegal actions ended it, in seat order; none if it was played to its end.
    """

    reward: float
    offenders: tuple[str, ...] = ()


class EndingTexts:
    """The sentences about an end that are the same in all games.

    Args:
        language: language of the texts.
    """

    def __init__(self, language: str) -> None:
        self._render = Prompts("llmarena_envs.core", language).render

    def over(self, cause: str, result: str) -> str:
        """Returns that the match is over, by what, and what came of it for the reader."""
        return self._render("over", cause=cause, result=result)

    def forfeit(self, reader: str, offenders: Sequence[str]) -> str:
        """Returns that illegal actions of ``offenders``, the reader perhaps among them, ended the match."""
        if list(offenders) == [reader]:
            return self._render("forfeited_by_you")
        return self._render("forfeited_by", players=", ".join(offenders))

    def played_out(self) -> str:
        """Returns that the match came to its end by itself."""
        return self._render("played_out")

    def contest(self, reward: float) -> str:
        """Returns that the reader has won (a reward above 0), lost (below 0) or drawn."""
        return self._render("won" if reward > 0 else "lost" if reward < 0 else "drawn")

    def points(self, reward: float) -> str:
        """Returns how many points, a whole number, the reader receives."""
        return self._render("points", points=int(reward))

    def received(self, reward: float) -> str:
        """Returns what the reader's reward is, in a game that has no word of its own for it."""
        return self._render("received", reward=f"{reward:g}")
