"""The policy contract.

A policy is any callable ``policy(observation) -> action``, or a text from which the environment parses the action. It may
be asynchronous. These attributes are optional:

* ``reads``: what the observation is. ``"text"`` (default): a dict with ``rules`` and ``text``, and ``action_mask`` where
  actions are enumerated; when the player is asked again after a bad reply, ``attempt`` counts the replies before and
  ``feedback`` says what was wrong, in one line (``text`` then ends with the end of the rejected reply and that line), and
  ``kept`` is what stays of earlier replies where the rest is enough. Where
  ``fresh_history`` is 1 the turn is to be answered without what was said in earlier ones.
  ``"view"``: the game's typed view. ``"vector"``: a dict with ``observation`` and ``action_mask``. ``"draw"``: no observation
  but a function ``draw(rng)`` that draws a legal action of the agent with a generator of the policy's, which also works where
  legal actions cannot be listed.
* ``reset(agent, seed)``: called before a match with the agent id it plays and a seed for its own random numbers.
* ``recall(observation, reply)``: called instead of the policy itself for a turn that was played before an interruption, so
  that a policy with a memory can restore it. A policy without it is asked again and its answer is dropped.
* ``unlimited_reasks``: ``True`` for a person, who is asked again after a bad reply until a legal one comes, and for whom no
  deadline holds. Such a policy may raise ``Quit``: the match then stays unfinished and can be taken up again.
* ``keeps_deadline``: ``True`` for a policy that bounds its own time, and for which no deadline holds: one that waits for its turn
  at a server loses none of its time by it.
* ``uses_service``: ``True`` for a policy that shares connections, limits and accounts with others; a run plays its matches in its
  own process, wherever it plays others.
* ``preflight(observation)``: asynchronous, with a text observation or ``None``; called before play, fails with a
  ``ProviderError`` if the policy could not play. Policies with the same ``preflight_key`` are checked once.
* ``wants_legal``: ``True`` to find the legal replies, at most 200 of them, under ``legal`` in a text observation, ``"all"`` to
  find all of them; the list is empty where the game cannot list them.
* ``wants_update``: ``True`` to find under ``update`` in a text observation what is new since the turn before of the same agent,
  with the instruction; in its first turn the whole text. When the player is asked again it ends like ``text``. For policies that
  remember what they have read.
* ``wants_chat``: ``True`` to find under ``chat`` in a text observation the match as messages in native roles
  (``llmarena_envs.core.codec.ChatMessage``), the rules first; only in environments that write it so, as debate and simulation.
  When the player is asked again the last message ends like ``text``.
* ``wants_picture``: ``True`` to find under ``picture`` in a text observation an SVG of what the seat sees.
* ``watch(observation)``: called at the beginning, after every turn and at the end with what the seat would read now: ``rules``,
  ``text``, their ``language``, ``picture`` and ``over``, whether the match has ended. For people, who want to see what happens
  meanwhile.
* ``close()``: called after the last match; it may be asynchronous, and may be called more than once.

A policy never receives the environment. Where there is a deadline a synchronous policy is called in a thread, which cannot be
stopped: a policy that misses it is not asked again while it still computes.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from llmarena_envs.core.failures import Failure

Policy = Callable[[Any], Any | Awaitable[Any]]
"""``policy(observation) -> action``, text, or a ``Reply``; possibly awaitable."""

READS = ("text", "view", "vector", "draw")

_KINDS = (Failure.OK, Failure.TRUNCATED, Failure.EMPTY, Failure.REFUSAL)


@dataclass(frozen=True)
class Reply:
    """A reply with what its making cost; a policy may return one in place of bare text.

    Attributes:
        text: the text to be parsed.
        kind: ``OK``, or ``TRUNCATED``, ``EMPTY`` or ``REFUSAL`` if the provider says so.
        prompt_tokens: tokens read; ``None`` if they were read and not counted.
        completion_tokens: tokens written, those of reasoning included; ``None`` if unknown.
        detail: further facts for the record, e.g. the provider's finish reason; JSON values only.
        cached_tokens: those of the tokens read that the provider had cached; ``None`` if unknown.
        reasoning_tokens: those of the tokens written that are reasoning; ``None`` if unknown.
        reasoning: what was thought before the text, which nobody reads but whoever reads the record.
        calls: requests that were sent for it; 0 for a reply out of a cache, and for policies that send none.
        waited: seconds of the time it took in which nothing was under way: in queues, pauses, and between attempts.
        request_id: by which a server knows the request that brought it, or an empty string.

    Raises:
        ValueError: if the text or the request id is none, or the kind is another one.
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

    A scripted policy computes and waits for nothing, so it is called in place and has no deadline.

    Attributes:
        agent: the agent id it plays.
        rng: the policy's own generator.
    """

    reads: ClassVar[str] = "view"
    agent: str
    rng: np.random.Generator

    def reset(self, agent: str, seed: int) -> None:
        """Begins a match as ``agent``."""
        self.agent = agent
        self.rng = np.random.default_rng(seed)

    def choose(self, actions: Sequence[Any]) -> Any:
        """Draws one of ``actions``, each as likely as the others."""
        return actions[int(self.rng.integers(len(actions)))]

    def __call__(self, view: Any) -> Any:
        """Returns an action, or text in the published grammar."""
        raise NotImplementedError
