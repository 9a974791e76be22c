"""What playing leaves behind: replies, turns and whole matches, and the digest by which a match is known again."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llmarena_envs.core.failures import Failure


def encodable(text: str) -> str:
    """Returns the text with lone surrogates replaced, which JSON can hold but no request and no record."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True)
class Attempt:
    """One reply.

    Attributes:
        reply: its text; for an action given as such, the action written in the game's grammar if that is possible.
        kind: what it ended in.
        message: what was wrong, as the player is told.
        prompt_tokens: tokens read; ``None`` if unknown.
        completion_tokens: tokens written, those of reasoning included; ``None`` if unknown.
        seconds: wall time it took.
        detail: what else the policy reported; JSON values.
        cached_tokens: those of the tokens read that the provider had cached; ``None`` if unknown.
        reasoning_tokens: those of the tokens written that are reasoning; ``None`` if unknown.
        reasoning: what a model thought before it replied.
        calls: requests that were sent for it; 0 if it came out of a cache or no model gave it.
        waited: seconds of the time it took in which nothing was under way.
        request_id: by which a server knows the request that brought it, or an empty string.
    """

    reply: str
    kind: Failure = Failure.OK
    message: str = ""
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    seconds: float = field(default=0.0, compare=False)
    detail: Mapping[str, Any] | None = None
    cached_tokens: int | None = field(default=0, compare=False)
    reasoning_tokens: int | None = 0
    reasoning: str = ""
    calls: int = field(default=0, compare=False)
    waited: float = field(default=0.0, compare=False)
    request_id: str = field(default="", compare=False)


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
        rewards: what each agent received by this turn; over all turns they add up to the rewards of the match.
        played: the action in the game's grammar, e.g. ``X: 3``; empty for a forfeit.
        digest: ``turn_digest`` of this turn and the digest of the turn before.
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


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def turn_digest(previous: str, turn: Turn) -> str:
    """Returns the digest of a match up to a turn: SHA-256, 64 hexadecimal digits.

    It covers everything in the turn but ``digest`` and what may differ between two replies that say the same (``seconds``,
    ``waited``, ``calls``, ``cached_tokens`` and ``request_id`` of the attempts), as JSON with sorted keys and without spaces. So
    the same deal and the same replies give the same digest on any machine. Reasoning is covered where there is any.

    Args:
        previous: digest of the turn before, or an empty string.
        turn: the turn.
    """
    attempts = [
        {
            "reply": attempt.reply,
            "kind": attempt.kind,
            "message": attempt.message,
            "prompt_tokens": attempt.prompt_tokens,
            "completion_tokens": attempt.completion_tokens,
            "detail": attempt.detail,
            **({"reasoning": attempt.reasoning} if attempt.reasoning else {}),
            **({"reasoning_tokens": attempt.reasoning_tokens} if attempt.reasoning_tokens else {}),
        }
        for attempt in turn.attempts
    ]
    content = {
        "index": turn.index,
        "agent": turn.agent,
        "read": turn.read,
        "action": turn.action,
        "attempts": attempts,
        "fallback": turn.fallback,
        "rewards": turn.rewards,
        "played": turn.played,
    }
    return hashlib.sha256(_canonical([previous, content]).encode()).hexdigest()


@dataclass(frozen=True)
class Episode:
    """A match that was played to its end.

    Attributes:
        turns: every turn.
        rewards: sum of rewards of each agent.
        infos: the last ``infos`` of each agent.
        digest: digest of the last turn.
        undecided: whether it has no result, as when every judge abstained.
    """

    turns: tuple[Turn, ...] = field(repr=False)
    rewards: dict[str, float]
    infos: dict[str, dict[str, Any]]
    digest: str
    undecided: bool = False

    def forfeit(self, agent: str) -> str:
        """Returns the name of the failure by which ``agent`` forfeited the match in lower case, or an empty string."""
        if not self.infos[agent]["illegal"]:
            return ""
        last = [turn for turn in self.turns if turn.agent == agent][-1]
        kind = last.attempts[-1].kind
        return (kind if kind is not Failure.OK else Failure(self.infos[agent]["illegal"])).name.lower()
