"""What playing leaves behind: replies, turns and whole matches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llmarena_envs.core.failures import Failure


@dataclass(frozen=True)
class Attempt:
    """One reply.

    Attributes:
        reply: its text; for an action given as such, the action written in the game's grammar if that is possible.
        kind: what it ended in.
        message: what was wrong, as the player is told.
        prompt_tokens: tokens read.
        completion_tokens: tokens written.
        seconds: wall time of the call.
        detail: what else the policy reported; JSON values.
    """

    reply: str
    kind: Failure = Failure.OK
    message: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = field(default=0.0, compare=False)
    detail: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Turn:
    """One turn of a match.

    Attributes:
        index: number of the turn in its match, from 0.
        agent: who acted.
        read: the text observation.
        action: what was played, an integer or a text; ``None`` for a forfeit.
        attempts: the replies, the last one first to be legal or the last one asked for.
        fallback: ``forfeit``, ``random_legal`` or ``noop`` if no reply was legal, else an empty string.
        rewards: what each agent received by this turn.
        played: the action in the game's grammar, e.g. ``X: 3``; empty for a forfeit.
        digest: rolling hash of everything observed, played and rewarded up to this turn.
    """

    index: int
    agent: str
    read: str
    action: int | str | None
    attempts: tuple[Attempt, ...]
    fallback: str = ""
    rewards: Mapping[str, float] = field(default_factory=dict)
    played: str = ""
    digest: str = ""


@dataclass(frozen=True)
class Episode:
    """A match that was played to its end.

    Attributes:
        turns: every turn.
        rewards: sum of rewards of each agent.
        infos: the last ``infos`` of each agent.
        digest: rolling hash over observations, actions and rewards of the whole match.
    """

    turns: tuple[Turn, ...]
    rewards: dict[str, float]
    infos: dict[str, dict[str, Any]]
    digest: str

    def forfeit(self, agent: str) -> str:
        """Returns the name of the failure by which ``agent`` forfeited the match in lower case, or an empty string."""
        if not self.infos[agent]["illegal"]:
            return ""
        last = [turn for turn in self.turns if turn.agent == agent][-1]
        kind = last.attempts[-1].kind
        return (kind if kind is not Failure.OK else Failure(self.infos[agent]["illegal"])).name.lower()
