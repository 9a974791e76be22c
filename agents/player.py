"""Players: policies as the loop that plays a match sees them."""

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
    """A policy with what the loop needs to know of it, found out once; see ``agents.policy`` for the optional attributes.

    Args:
        policy: the policy.
        computing: bounds how many scripted policies compute in threads at once, while this thread does something else; without
            it they are called in place.

    Attributes:
        policy: the policy.
        reads: ``text``, ``view``, ``vector`` or ``draw``.
        is_person: whether it is asked until a legal move comes, without a deadline.
        keeps_deadline: whether it bounds its own time, and is given no deadline.
        uses_service: whether it shares what it needs with other players of this process, and so is asked in it.
        is_scripted: whether it computes and waits for nothing: it has no deadline.
        wants_legal: whether its observations list the legal moves.
        wants_update: whether its observations hold what is new since it was asked before.
        wants_chat: whether they hold the match in native roles, where its environment writes it so.
        wants_all_legal: whether they list every one of them, however many there are.
        wants_picture: whether they hold a picture of what its seat sees.
        watches: whether it is told after every turn what it would read.

    Raises:
        OptionError: if the policy cannot be called, or reads something else.
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
        """Whether the policy still works on a reply that nobody waits for any more; such a player is of no further use."""
        return self._overdue is not None and self._overdue.is_alive()

    def reset(self, agent: str, seed: int) -> None:
        """Begins a match as ``agent``; ``seed`` is for the policy's own random numbers.

        Raises:
            ProviderError: if the policy fails.
        """
        if self._reset is not None:
            with provider_errors("the policy's reset"):
                self._reset(agent, seed)

    async def ask(self, observation: Any, deadline: float | None = None) -> Any:
        """Returns what the policy answers.

        A synchronous policy with a deadline is called in a thread of its own, and so is a scripted one that must not hold up this
        one; every other one in place.

        Args:
            observation: what it reads.
            deadline: seconds it has, or ``None`` for no limit; not for people, scripted policies and those that keep a deadline
                of their own.

        Raises:
            ProviderError: if the policy fails, does not answer in time, or is stuck.
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
        """Lets the policy live through a reply of before an interruption.

        Args:
            observation: what it read.
            reply: what it replied.
            deadline: as in ``ask``, for a policy that must be asked again since it has no ``recall``.

        Raises:
            ProviderError: if the policy fails.
        """
        if self._recall is None:
            await self.ask(observation, deadline)
            return
        with provider_errors("the policy's recall"):
            await _result(self._recall(observation, reply))

    async def watch(self, observation: Mapping[str, Any]) -> None:
        """Tells the policy what it would read now, though it is not asked; does nothing for one that does not watch.

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
        """Releases what the policy holds; it may be asked again afterwards."""
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
    """Returns a player for each agent: those that are given, and new ones for policies.

    Raises:
        OptionError: if something given is neither.
    """
    return {agent: policy if isinstance(policy, Player) else Player(policy) for agent, policy in policies.items()}


async def close_players(players: Iterable[Player]) -> None:
    """Closes every player, even if closing one of them fails."""
    async with AsyncExitStack() as stack:
        for player in players:
            stack.push_async_callback(player.close)


async def _result(answer: Any) -> Any:
    """Returns an answer, which a synchronous function too may give as something to be awaited."""
    return await answer if inspect.isawaitable(answer) else answer


def _is_asynchronous(policy: Policy) -> bool:
    return inspect.iscoroutinefunction(policy) or inspect.iscoroutinefunction(type(policy).__call__)
