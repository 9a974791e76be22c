"""Players: policies with their properties, for the match loop."""

import asyncio
import inspect
import threading
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from typing import Any

from agents.calling import call_in_thread, provider_errors, time_limit
from agents.errors import ProviderError
from agents.policy import READS, Policy, ScriptedPolicy
from llmarena_envs.core.options import OptionError


class Player:
    """A policy with its properties, read once; see ``agents.policy`` for the optional attributes.

    Args:
        policy: the policy.
        computing: limits the number of scripted policies computing in threads; without it they are called in place.

    Attributes:
        policy: the policy.
        reads: ``text``, ``view``, ``vector``, ``draw`` or ``position``.
        is_person: whether it is asked until its move is legal, without a deadline.
        keeps_deadline: whether it limits its own time; no deadline is set.
        uses_service: whether it shares resources with other players of this process, so it must be called in it.
        is_scripted: whether it only computes, without waiting; it has no deadline.
        wants_legal: whether its observations list the legal moves.
        wants_update: whether its observations hold the news since its last turn.
        wants_form: whether they hold the request to restate a reply in the requested form.
        wants_chat: whether they hold the match in native roles, if the environment supports it.
        wants_all_legal: whether they list all legal moves, without a limit.
        wants_picture: whether they hold a picture of the seat's view.
        watches: whether it receives its current text after every turn.

    Raises:
        OptionError: if the policy is not callable, or reads something else.
    """

    def __init__(self, policy: Policy, computing: asyncio.Semaphore | None = None) -> None:
        reads = getattr(policy, "reads", "text")
        if not callable(policy) or reads not in READS:
            raise OptionError(f"policy: expected a callable that reads one of {READS}, got {policy!r} ({reads!r})")
        self.policy = policy
        self._computing = computing
        self.reads: str = reads
        self.is_person = bool(getattr(policy, "unlimited_reasks", False))
        self.keeps_deadline = bool(getattr(policy, "keeps_deadline", False))
        self.uses_service = bool(getattr(policy, "uses_service", False))
        self.wants_legal = bool(getattr(policy, "wants_legal", False))
        self.wants_all_legal = getattr(policy, "wants_legal", False) == "all"
        self.wants_update = bool(getattr(policy, "wants_update", False))
        self.wants_form = bool(getattr(policy, "wants_form", False))
        self.wants_chat = bool(getattr(policy, "wants_chat", False))
        self.wants_picture = bool(getattr(policy, "wants_picture", False))
        self._watch = getattr(policy, "watch", None)
        self.watches = self._watch is not None
        self._is_asynchronous = _is_asynchronous(policy)
        self.is_scripted = isinstance(policy, ScriptedPolicy) and not self._is_asynchronous
        self._reset = getattr(policy, "reset", None)
        self._recall = getattr(policy, "recall", None)
        self._close = getattr(policy, "close", None)
        self._overdue: threading.Thread | None = None

    @property
    def is_stuck(self) -> bool:
        """Whether the policy still works on an abandoned reply; such a player is not used again."""
        return self._overdue is not None and self._overdue.is_alive()

    def reset(self, agent: str, seed: int) -> None:
        """Starts a match as ``agent``; ``seed`` is for the policy's own random numbers.

        Raises:
            ProviderError: if the policy fails.
        """
        if self._reset is not None:
            with provider_errors("the policy's reset"):
                self._reset(agent, seed)

    async def ask(self, observation: Any, deadline: float | None = None) -> Any:
        """Returns the answer of the policy.

        Synchronous policies with a deadline run in a thread, as do scripted ones if ``computing`` is set; all others run in
        place.

        Args:
            observation: the policy's observation.
            deadline: seconds for the answer, or ``None`` for no limit; ignored for humans, scripted policies and policies that
                keep their own deadline.

        Raises:
            ProviderError: if the policy fails, misses the deadline, or is stuck.
            Quit: if a person leaves.
        """
        with provider_errors("the policy"):
            if self.is_scripted:
                if self._computing is None:
                    return self.policy(observation)
                async with self._computing:
                    return await self._ask_in_thread(observation)
            if self.is_stuck:
                raise ProviderError("the policy still works on an earlier reply that came too late")
            if deadline is None or self.is_person or self.keeps_deadline:
                return await _result(self.policy(observation))
            async with time_limit(deadline):
                if self._is_asynchronous:
                    return await self.policy(observation)
                return await _result(await self._ask_in_thread(observation))

    async def recall(self, observation: Any, reply: str, deadline: float | None = None) -> None:
        """Replays a reply from before an interruption to the policy.

        Args:
            observation: its observation.
            reply: its reply.
            deadline: as in ``ask``, for a policy without ``recall``, which is asked again.

        Raises:
            ProviderError: if the policy fails.
        """
        if self._recall is None:
            await self.ask(observation, deadline)
            return
        with provider_errors("the policy's recall"):
            await _result(self._recall(observation, reply))

    async def watch(self, observation: Mapping[str, Any]) -> None:
        """Sends the policy its current text without asking it; does nothing for a policy that does not watch.

        Args:
            observation: ``rules``, ``text``, their ``language``, ``picture`` (SVG of its seat) and ``over``, whether the match
                has ended.

        Raises:
            ProviderError: if the policy fails.
        """
        if self._watch is not None:
            with provider_errors("the policy's watch"):
                await _result(self._watch(observation))

    async def close(self) -> None:
        """Releases the policy's resources; it can be asked again afterwards."""
        if self._close is not None:
            await _result(self._close())

    async def _ask_in_thread(self, observation: Any) -> Any:
        future, thread = call_in_thread(self.policy, observation)
        try:
            return await future
        except asyncio.CancelledError:
            self._overdue = thread
            raise


def seat_players(policies: Mapping[str, Policy | Player]) -> dict[str, Player]:
    """Returns a player for each agent, made from policies where needed.

    Raises:
        OptionError: if a value is neither a policy nor a player.
    """
    return {agent: policy if isinstance(policy, Player) else Player(policy) for agent, policy in policies.items()}


async def close_players(players: Iterable[Player]) -> None:
    """Closes every player, even if closing one fails."""
    async with AsyncExitStack() as stack:
        for player in players:
            stack.push_async_callback(player.close)


async def _result(answer: Any) -> Any:
    """Returns an answer, awaited if a synchronous function returned an awaitable."""
    return await answer if inspect.isawaitable(answer) else answer


def _is_asynchronous(policy: Policy) -> bool:
    return inspect.iscoroutinefunction(policy) or inspect.iscoroutinefunction(type(policy).__call__)
