"""Playing one match: the loop between an environment and its policies."""

import asyncio
import hashlib
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from pettingzoo import AECEnv

from agents.errors import EnvironmentBug, ReplayMismatch
from agents.policy import Policy
from agents.records import Episode, Turn
from agents.turn import STANDARD_TURNS, Move, TurnSettings, observation_for, provider_errors, take_turn
from llmarena_envs.core.text_env import TextEnv


class Streams:
    """The random streams of one match, spawned from its seed: one for the game, one a seat, one for fallbacks.

    Args:
        seed: seed of the match.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def _sequence(self, *key: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self._seed, spawn_key=key)

    def game(self) -> int:
        """Returns the seed of the environment."""
        return int(self._sequence(0).generate_state(1, np.uint64)[0])

    def seat(self, index: int) -> int:
        """Returns the seed of the policy on seat ``index``."""
        return int(self._sequence(1, index).generate_state(1, np.uint64)[0])

    def fallback(self, turn: int) -> np.random.Generator:
        """Returns the generator for a move that is played for somebody at ``turn``."""
        return np.random.default_rng(self._sequence(2, turn))


def play(env: AECEnv, policies: Mapping[str, Policy], seed: int, settings: TurnSettings = STANDARD_TURNS) -> Episode:
    """Plays one match and returns it.

    Args:
        env: an environment of this suite, made with ``obs_type="text"``.
        policies: a policy for each of the environment's agents.
        seed: seed of the match; game and policies draw from streams spawned from it.
        settings: what to do about replies that are no legal move.

    The policies are closed at the end; they may be used again.

    Raises:
        ValueError: if the policies do not fit the agents.
        ProviderError: if a policy failed for no fault of the player.
        EnvironmentBug: if the environment goes on after its published bound of turns.
    """
    return asyncio.run(play_and_close(env, policies, seed, settings))


async def play_and_close(
    env: AECEnv,
    policies: Mapping[str, Policy],
    seed: int,
    settings: TurnSettings = STANDARD_TURNS,
    *,
    on_turn: Callable[[Turn], None] = lambda turn: None,
) -> Episode:
    """Plays one match like ``play_async`` and closes the policies, whatever happens."""
    try:
        return await play_async(env, policies, seed, settings, on_turn=on_turn)
    finally:
        await close_policies(policies.values())


async def close_policies(policies: Iterable[Policy]) -> None:
    """Calls ``close`` on every policy that has one."""
    for policy in policies:
        closing = getattr(policy, "close", lambda: None)()
        if inspect.isawaitable(closing):
            await closing


async def play_async(
    env: AECEnv,
    policies: Mapping[str, Policy],
    seed: int,
    settings: TurnSettings = STANDARD_TURNS,
    *,
    played: Sequence[Turn] = (),
    on_turn: Callable[[Turn], None] = lambda turn: None,
) -> Episode:
    """Plays one match like ``play``, from where an interruption left it.

    Args:
        env: as in ``play``.
        policies: as in ``play``.
        seed: as in ``play``.
        settings: as in ``play``.
        played: turns of the same match that were played before; they are replayed, not asked for again.
        on_turn: called after every new turn.

    Raises:
        ReplayMismatch: if the turns played before do not come out again, besides the errors of ``play``.
    """
    raw = env.unwrapped
    if not isinstance(raw, TextEnv) or raw.obs_type != "text":
        raise ValueError(f"env: expected an environment of this suite with obs_type='text', got {env}")
    if set(policies) != set(raw.possible_agents):
        raise ValueError(f"policies: expected one for each of {raw.possible_agents}, got {sorted(policies)}")
    streams = Streams(seed)
    language = raw.codec.language
    env.reset(seed=streams.game())
    for seat, agent in enumerate(raw.possible_agents):
        with provider_errors("the policy's reset"):
            getattr(policies[agent], "reset", lambda agent, seed: None)(agent, streams.seat(seat))
    turns: list[Turn] = []
    rewards = dict.fromkeys(raw.possible_agents, 0.0)
    digest = ""
    while not any(raw.terminations.values()):
        if len(turns) >= raw.max_turns:
            raise EnvironmentBug(f"{raw} went on after its published bound of {raw.max_turns} turns")
        index, agent = len(turns), env.agent_selection
        read = env.observe(agent)["text"]
        if index < len(played):
            old = played[index]
            if (old.agent, old.read) != (agent, read):
                raise ReplayMismatch(
                    f"turn {index}: expected {old.agent} reading {old.read!r}, got {agent} reading {read!r}"
                )
            await _recall(raw, agent, policies[agent], old, settings, language)
            move = Move(old.action, old.attempts, old.fallback)
        else:
            move = await take_turn(
                raw, agent, policies[agent], settings, lambda: streams.fallback(len(turns)), language
            )
        env.step(move.action)
        for name, reward in raw.rewards.items():
            if settings.pay_opponents or not _is_forfeit_of_another(raw, name):
                rewards[name] += reward
        digest = _chain(digest, agent, read, move.action, raw.rewards)
        turn = Turn(index, agent, read, move.action, move.attempts, move.fallback, dict(raw.rewards), digest=digest)
        turns.append(turn)
        if index >= len(played):
            on_turn(turn)
        elif played[index].digest not in ("", digest):  # an old record has none
            raise ReplayMismatch(f"turn {index}: expected digest {played[index].digest}, got {digest}")
    return Episode(tuple(turns), rewards, {agent: dict(info) for agent, info in raw.infos.items()}, digest)


def _is_forfeit_of_another(env: TextEnv, agent: str) -> bool:
    """Says whether somebody forfeited the match, and not ``agent``."""
    return any(info["illegal"] for info in env.infos.values()) and not env.infos[agent]["illegal"]


async def _recall(env: TextEnv, agent: str, policy: Policy, turn: Turn, settings: TurnSettings, language: str) -> None:
    """Lets a policy live through a turn that was played before an interruption."""
    recall = getattr(policy, "recall", None)
    for count, attempt in enumerate(turn.attempts):
        observation = observation_for(env, agent, policy, list(turn.attempts[:count]), settings, language)
        with provider_errors("the policy's recall" if recall is not None else "the policy"):
            answer = recall(observation, attempt.reply) if recall is not None else policy(observation)
            if inspect.isawaitable(answer):
                await answer


def _chain(digest: str, agent: str, read: str, action: Any, rewards: Mapping[str, float]) -> str:
    """Returns the rolling hash after one more turn: 16 hexadecimal digits."""
    entry = json.dumps([digest, agent, read, action, rewards], sort_keys=True)
    return hashlib.blake2b(entry.encode(), digest_size=8).hexdigest()
