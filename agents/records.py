"""Records of play: replies, turns and matches, and their digest."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from llmarena_envs.core.failures import Failure


def encodable(text: str) -> str:
    """Returns the text with lone surrogates replaced; JSON can hold them, requests and records cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(frozen=True)
class Attempt:
    """One reply.

    Attributes:
        reply: its text; for a direct action, the action in the game's grammar if possible.
        kind: the outcome.
        message: the error, as shown to the player.
        prompt_tokens: prompt tokens; ``None`` if unknown.
        completion_tokens: completion tokens, including reasoning; ``None`` if unknown.
        seconds: wall time.
        detail: further facts from the policy; JSON values.
        cached_tokens: cached prompt tokens; ``None`` if unknown.
        reasoning_tokens: reasoning tokens among the completion tokens; ``None`` if unknown.
        reasoning: a model's reasoning before the reply.
        calls: number of requests sent; 0 for a cached reply, or without a model.
        waited: seconds without a request in flight.
        request_id: the server's id of the request, or an empty string.
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
        agent: the acting agent.
        read: the text observation.
        action: the action played, an integer or a text; ``None`` for a forfeit.
        attempts: the replies, ending with the first legal one or the last one allowed.
        fallback: ``forfeit``, ``random_legal`` or ``noop`` if no reply was legal, else an empty string.
        rewards: reward of each agent for this turn; their sum over all turns is the reward of the match.
        played: the action in the game's grammar, e.g. ``X: 3``; empty for a forfeit.
        digest: ``turn_digest`` of this turn and the previous digest.
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

    It covers the turn as JSON with sorted keys and without spaces, except ``digest`` and the fields of attempts that can differ
    between equal replies (``seconds``, ``waited``, ``calls``, ``cached_tokens`` and ``request_id``). The same deal and replies
    give the same digest on any machine. Reasoning is covered if there is any.

    Args:
        previous: digest of the previous turn, or an empty string.
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
        undecided: whether it has no result, e.g. because every judge abstained.
    """

    turns: tuple[Turn, ...] = field(repr=False)
    rewards: dict[str, float]
    infos: dict[str, dict[str, Any]]
    digest: str
    undecided: bool = False

    def forfeit(self, agent: str) -> str:
        """Returns the kind of failure by which ``agent`` forfeited the match, in lower case, or an empty string."""
        if not self.infos[agent]["illegal"]:
            return ""
        last = [turn for turn in self.turns if turn.agent == agent][-1]
        kind = last.attempts[-1].kind
        return (kind if kind is not Failure.OK else Failure(self.infos[agent]["illegal"])).name.lower()
