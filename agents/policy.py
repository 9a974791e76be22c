"""The policy contract.

A policy is any callable ``policy(observation)`` that returns an action or a text to parse. It can be asynchronous.
Optional attributes:

* ``reads``: type of the observation. ``"text"`` (default): a dict with ``rules`` and ``text``, and ``action_mask`` if actions are
  enumerated. After an invalid reply ``attempt`` counts the previous replies, ``feedback`` describes the error in one line
  (``text`` then ends with the end of the rejected reply and that line), and ``kept`` holds accepted parts of earlier replies if
  only the rest is missing. If ``fresh_history`` is 1, the turn must be answered without messages of earlier turns. ``"view"``:
  the game's typed view. ``"vector"``: a dict with ``observation`` and ``action_mask``. ``"draw"``: a function ``draw(rng)`` that
  draws a legal action of the agent with the policy's generator, even if legal actions cannot be listed. ``"position"``: a
  function ``position(rng)`` for search; it returns a copy of the game with all information hidden from the agent redrawn.
* ``reset(agent, seed)``: called before a match with its agent id and a seed for its own random numbers.
* ``recall(observation, reply)``: called instead of the policy itself for a turn from before an interruption, to restore the
  memory of a policy. A policy without it is asked again and its answer is dropped.
* ``unlimited_reasks``: ``True`` for a human player, asked again until the reply is legal, without a deadline. Such a policy can
  raise ``Quit``: the match then stays unfinished and can be resumed. Its observations hold the ``parts`` of a reply, if there are
  any (``llmarena_envs.core.codec.ReplyPart``), and ``join_parts``, which makes a reply of their texts.
* ``keeps_deadline``: ``True`` for a policy that limits its own time, e.g. because waiting in the queue of a server must not
  count. No deadline is set.
* ``uses_service``: ``True`` for a policy that shares connections, limits and accounts with others; its matches are played in the
  main process.
* ``preflight(observation)``: asynchronous, with a text observation or ``None``; called before play, raises a ``ProviderError`` if
  the policy cannot play. Policies with the same ``preflight_key`` are checked once.
* ``wants_legal``: ``True`` for the legal replies, at most 200, as ``legal`` in a text observation, ``"all"`` for all of them;
  empty if the game cannot list them.
* ``wants_update``: ``True`` for the news since the agent's previous turn, with the instruction, as ``update`` in a text
  observation; the whole text in its first turn. When the player is asked again it ends like ``text``. For policies with a memory.
* ``wants_form``: ``True`` for the request to restate a reply in the requested form, in the game's language, as ``form`` in a text
  observation.
* ``wants_chat``: ``True`` for the match as messages in native roles (``llmarena_envs.core.codec.ChatMessage``), the rules first,
  as ``chat`` in a text observation; only in environments that support it, such as debate and simulation. When the player is asked
  again the last message ends like ``text``.
* ``wants_picture``: ``True`` for an SVG of the seat's view as ``picture`` in a text observation.
* ``watch(observation)``: called at the beginning, after every turn and at the end with the seat's current ``rules``, ``text``,
  their ``language``, ``picture`` and ``over``, whether the match has ended; before the end with ``to_move``, the agent to move,
  at the end with the ``rewards`` of all agents and ``undecided``. For live views of human players.
* ``close()``: called after the last match, possibly more than once; can be asynchronous.

A policy never receives the environment. With a deadline, a synchronous policy is called in a thread, which cannot be stopped:
after a missed deadline it is not asked again until it returns.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from llmarena_envs.core.failures import Failure

Policy = Callable[[Any], Any | Awaitable[Any]]
"""``policy(observation)`` returns an action, text or a ``Reply``, possibly awaitable."""

READS = ("text", "view", "vector", "draw", "position")

_KINDS = (Failure.OK, Failure.TRUNCATED, Failure.EMPTY, Failure.REFUSAL)


@dataclass(frozen=True)
class Reply:
    """A reply with its cost; a policy can return one in place of text.

    Attributes:
        text: the text to parse.
        kind: ``OK``, or ``TRUNCATED``, ``EMPTY`` or ``REFUSAL`` if reported by the provider.
        prompt_tokens: prompt tokens; ``None`` if not counted.
        completion_tokens: completion tokens, including reasoning; ``None`` if unknown.
        detail: further facts for the record, e.g. the provider's finish reason; JSON values only.
        cached_tokens: cached prompt tokens; ``None`` if unknown.
        reasoning_tokens: reasoning tokens among the completion tokens; ``None`` if unknown.
        reasoning: reasoning before the text; recorded, not shown to other players.
        calls: number of requests sent; 0 for a cached reply, and for policies without requests.
        waited: seconds without a request in flight: in queues, pauses, and between attempts.
        request_id: the server's id of the request, or an empty string.

    Raises:
        ValueError: if the text or the request id is not a string, or the kind is another one.
    """

    text: str
    kind: Failure = Failure.OK
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    detail: dict[str, Any] | None = None
    cached_tokens: int | None = 0
    reasoning_tokens: int | None = 0
    reasoning: str = ""
    calls: int = 0
    waited: float = 0.0
    request_id: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise ValueError(f"text: expected a text, got {self.text!r:.80}")
        if not isinstance(self.request_id, str):
            raise ValueError(f"request_id: expected a text, got {self.request_id!r:.80}")
        if not isinstance(self.kind, Failure) or self.kind not in _KINDS:
            raise ValueError(f"kind: expected one of {', '.join(kind.name for kind in _KINDS)}, got {self.kind!r:.80}")


class ScriptedPolicy:
    """Base of the baselines: reads the view and draws from a generator seeded for the match.

    A scripted policy only computes, so it is called in place and has no deadline.

    Attributes:
        agent: the agent id it plays.
        rng: the policy's own generator.
    """

    reads: ClassVar[str] = "view"
    agent: str
    rng: np.random.Generator

    def reset(self, agent: str, seed: int) -> None:
        """Starts a match as ``agent``."""
        self.agent = agent
        self.rng = np.random.default_rng(seed)

    def choose(self, actions: Sequence[Any]) -> Any:
        """Returns one of ``actions``, drawn uniformly."""
        return actions[int(self.rng.integers(len(actions)))]

    def __call__(self, view: Any) -> Any:
        """Returns an action, or text in the game's grammar."""
        raise NotImplementedError
