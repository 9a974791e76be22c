"""A policy that plays from conversations: every request is a match of its own, which has come to its last turn."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from agents.calling import provider_errors
from agents.errors import ProviderError
from agents.models.preflight import MESSAGES
from agents.player import Player, close_players
from agents.policy import Policy, Reply
from agents.serving.chat_request import ChatRequest, RequestError
from llmarena_envs.catalogue import CATALOGUE, make_environment
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.text_env import TextEnv

DEADLINE = 600.0
"""Seconds for a reply of a policy that may wait for something."""


class ServedPolicy:
    """A policy of one environment that answers requests for chat completions.

    A policy that reads texts is given the messages: earlier turns by its ``recall``, if it has one, and the last one of the
    user to be answered. Every other policy reads the last position that stands in a message of the user; so it can be served
    where the texts of the environment say everything that its views hold.

    Args:
        env: the environment.
        make_policy: makes the policy; each request that is under way has one of its own.

    Raises:
        OptionError: if the policy cannot be served, with the environments in which it could be.
    """

    def __init__(self, env: TextEnv, make_policy: Callable[[], Policy]) -> None:
        self._env = env
        self._make_policy = make_policy
        first = Player(make_policy())
        name = env.metadata["name"]
        if first.is_person:
            raise OptionError("policy: expected one that computes its moves, a person cannot be served")
        if first.reads != "text" and not reads_views(env):
            raise OptionError(
                f"policy: the texts of {name} do not say all that a policy reads that reads {first.reads!r}; expected one"
                f" that reads texts, or one of the environments {', '.join(_environments_with_views())}"
            )
        self._free = [first]
        self._made = [first]
        self._threads = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="policy")

    async def answer(self, request: ChatRequest) -> Reply:
        """Returns the reply to a request; what our own client asks before a run, to find out who is there, is answered too.

        Raises:
            RequestError: if a position is needed and none stands in the messages.
            ProviderError: if the policy fails.
        """
        player = self._free.pop() if self._free else self._new_player()
        try:
            view = self._read_view(request)
            if player.reads != "text" and view is None:
                if request.text == MESSAGES[-1]["content"]:
                    return Reply("ready")
                raise self._unreadable()
            if player.is_scripted:
                loop = asyncio.get_running_loop()
                answer = await loop.run_in_executor(self._threads, _compute, player, self._env, request, view)
            else:
                answer = await _ask(player, self._env, request, view)
            with provider_errors("writing the policy's answer"):
                return self._write(answer, view)
        finally:
            if not player.is_stuck:
                self._free.append(player)

    async def close(self) -> None:
        """Releases what the policies hold."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        await close_players(self._made)

    def _new_player(self) -> Player:
        player = Player(self._make_policy())
        self._made.append(player)
        return player

    def _read_view(self, request: ChatRequest) -> Any:
        """Returns the position that was said last, if it is the player's turn in it; updates of it may stand in several texts."""
        texts = [*(user for user, _ in request.turns), request.text]
        view = self._env.codec.read_view("\n\n".join(texts))
        return view if view is not None and view.to_move else None

    def _unreadable(self) -> RequestError:
        self._env.reset(seed=0)
        example = self._env.observe(self._env.agent_selection)["text"]
        return RequestError(
            f"messages: expected a text of {self._env.metadata['name']} in which a player is to move, as it stands in an"
            f" observation with these options of the environment, e.g.\n\n{example}",
            code="no_position",
        )

    def _write(self, answer: Any, view: Any) -> Reply:
        """Returns an answer as a reply in the environment's grammar."""
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, str):
            return Reply(answer)
        if view is None:
            raise ProviderError(f"expected a text from a policy that reads texts, got {answer!r:.80}")
        return Reply(self._env.codec.format(int(answer), view))


def reads_views(env: TextEnv) -> bool:
    """Says whether the texts of an environment say everything that its views hold."""
    env.reset(seed=0)
    agent = env.agent_selection
    return bool(env.codec.read_view(env.codec.observation(env.view(agent))) == env.view(agent))


def _environments_with_views() -> list[str]:
    return [entry.name for entry in CATALOGUE if reads_views(make_environment(entry.name, {}).unwrapped)]


def _compute(player: Player, env: TextEnv, request: ChatRequest, view: Any) -> Any:
    """Returns what a scripted policy answers."""
    player.reset(view.agent if view is not None else "", request.seed)
    with provider_errors("the policy"):
        return player.policy(_observation(player, env, request.rules, request.text, view))


async def _ask(player: Player, env: TextEnv, request: ChatRequest, view: Any) -> Any:
    """Returns what any other policy answers, which may have a memory."""
    player.reset(view.agent if view is not None else "", request.seed)
    if player.reads == "text" and hasattr(player.policy, "recall"):
        for user, said in request.turns:
            await player.recall(_observation(player, env, request.rules, user, None), said)
    return await player.ask(_observation(player, env, request.rules, request.text, view), DEADLINE)


def _observation(player: Player, env: TextEnv, rules: str, text: str, view: Any) -> Any:
    """Returns what the player reads."""
    if player.reads == "view":
        return view
    if player.reads == "vector":
        mask = np.zeros(env.game.num_actions or 0, dtype=np.int8)
        mask[list(view.legal)] = 1
        return {"observation": env.encode(view), "action_mask": mask}
    if player.reads == "draw":
        return lambda rng: view.legal[int(rng.integers(len(view.legal)))]
    observation: dict[str, Any] = {"rules": rules, "text": text}
    if player.wants_legal:
        observation["legal"] = [] if view is None else [env.codec.format(move, view) for move in view.legal]
    return observation
