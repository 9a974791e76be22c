"""The loop that plays one match between an environment and its policies."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
from pettingzoo import AECEnv

from agents.errors import EnvironmentBug, ProviderError, ReplayMismatch
from agents.feedback import restate_request
from agents.player import Player, close_players, seat_players
from agents.policy import Policy
from agents.records import Attempt, Episode, Turn, turn_digest
from agents.turn import STANDARD_TURNS, TurnSettings, take_turn
from llmarena_envs.core.text_env import TextEnv

MAX_LISTED = 200
"""Most legal moves listed for a human player."""


class Streams:
    """The random streams of one match, spawned from its seed: one for the game, one per seat, one for fallbacks.

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
        """Returns the generator for a fallback move at ``turn``."""
        return np.random.default_rng(self._sequence(2, turn))


def play(
    env: AECEnv, policies: Mapping[str, Policy | Player], seed: int, settings: TurnSettings = STANDARD_TURNS
) -> Episode:
    """Plays one match and returns it.

    Args:
        env: an environment of this suite, made with ``obs_type="text"``.
        policies: a policy for each agent of the environment.
        seed: seed of the match; streams for game and policies are spawned from it.
        settings: invalid-reply policy.

    The policies are closed at the end; they can be used again.

    Raises:
        ValueError: if the policies do not match the agents, or one is not a policy.
        ProviderError: if a policy failed through no fault of the player.
        EnvironmentBug: if the environment exceeds its bound on turns.
    """
    return asyncio.run(play_and_close(env, policies, seed, settings))


async def play_and_close(
    env: AECEnv,
    policies: Mapping[str, Policy | Player],
    seed: int,
    settings: TurnSettings = STANDARD_TURNS,
    *,
    on_turn: Callable[[Turn], None] = lambda turn: None,
) -> Episode:
    """Plays one match like ``play_async`` and always closes the policies."""
    players = seat_players(policies)
    try:
        return await play_async(env, players, seed, settings, on_turn=on_turn)
    finally:
        await close_players(players.values())


async def play_async(
    env: AECEnv,
    players: Mapping[str, Player],
    seed: int,
    settings: TurnSettings = STANDARD_TURNS,
    *,
    played: Sequence[Turn] = (),
    on_turn: Callable[[Turn], None] = lambda turn: None,
    on_attempt: Callable[[str, Attempt], None] = lambda agent, attempt: None,
) -> Episode:
    """Plays one match like ``play``, resuming after an interruption.

    Args:
        env: as in ``play``.
        players: a player for each agent of the environment; see ``agents.player.seat_players``.
        seed: as in ``play``.
        settings: as in ``play``.
        played: recorded turns of the same match, replayed from their replies without asking the policies; the results must equal
            the record.
        on_turn: called after every new turn.
        on_attempt: called with agent and parsed reply after every reply.

    Raises:
        ReplayMismatch: if the replay differs from the record, besides the errors of ``play``.
    """
    raw = env.unwrapped
    if not isinstance(raw, TextEnv) or raw.obs_type != "text":
        raise ValueError(f"env: expected an environment of this suite with obs_type='text', got {env}")
    if set(players) != set(raw.possible_agents):
        raise ValueError(f"policies: expected one for each of {raw.possible_agents}, got {sorted(players)}")
    streams = Streams(seed)
    env.reset(seed=streams.game())
    for seat, agent in enumerate(raw.possible_agents):
        with _naming(agent):
            players[agent].reset(agent, streams.seat(seat))
    turns: list[Turn] = []
    last_views: dict[str, Any] = {}
    rewards = dict.fromkeys(raw.possible_agents, 0.0)
    digest = ""
    watchers = {agent: player for agent, player in players.items() if player.watches}
    if watchers:
        await _tell(raw, watchers, rewards)
    while not any(raw.terminations.values()):
        if len(turns) >= raw.max_turns:
            raise EnvironmentBug(f"{raw} went on after its published bound of {raw.max_turns} turns")
        index, agent = len(turns), env.agent_selection
        recorded = played[index] if index < len(played) else None
        text, observation = observe(raw, agent, players[agent], last_views)
        if recorded is not None and (recorded.index, recorded.agent, recorded.read) != (index, agent, text):
            raise ReplayMismatch(
                f"turn {index}: expected {recorded.agent} in turn {recorded.index} reading {recorded.read!r},"
                f" got {agent} reading {text!r}"
            )
        with _naming(agent):
            move = await take_turn(
                raw,
                agent,
                players[agent],
                observation,
                settings,
                lambda: streams.fallback(len(turns)),
                recorded,
                partial(on_attempt, agent),
            )
        env.step(move.action)
        received = step_rewards(raw, settings)
        for name, reward in received.items():
            rewards[name] += reward
        turn = Turn(index, agent, text, move.action, move.attempts, move.fallback, received, move.played)
        digest = turn_digest(digest, turn)
        turn = replace(turn, digest=digest)
        turns.append(turn)
        if recorded is None:
            on_turn(turn)
        else:
            _compare(recorded, turn)
        if watchers and len(turns) >= len(played):
            await _tell(raw, watchers, rewards)
    if len(turns) < len(played):
        raise ReplayMismatch(f"expected {len(played)} turns, but the match ended after {len(turns)}")
    return Episode(
        tuple(turns), rewards, {agent: dict(info) for agent, info in raw.infos.items()}, digest, raw.game.undecided
    )


@contextmanager
def _naming(agent: str) -> Iterator[None]:
    """Sets the agent of a ``ProviderError``."""
    try:
        yield
    except ProviderError as error:
        error.agent = agent
        raise


def observe(env: TextEnv, agent: str, player: Player, last_views: dict[str, Any]) -> tuple[str, Any]:
    """Returns the text of a turn, rendered once for any player, and the player's observation.

    Args:
        last_views: previous view of each agent that reads updates; updated with the current view.
    """
    if player.reads == "text":
        observation = env.observe(agent)
        text = observation["text"]
        reads_view = player.wants_update or player.wants_chat or player.wants_legal or player.is_person
        view: Any = env.view(agent) if reads_view else None
        if player.is_person:
            observation["text"] = env.codec.for_person(view)
            observation["parts"] = env.codec.parts(view)
            observation["join_parts"] = partial(env.codec.join_parts, view=view)
        if player.wants_update:
            since = last_views.get(agent)
            observation["update"] = observation["text"] if since is None else env.codec.update(view, since)
            if not observation.get("fresh_history"):
                last_views[agent] = view
        if player.wants_chat and (chat := env.codec.chat(view)) is not None:
            observation["chat"] = chat
        if player.wants_legal:
            listed = view.legal if player.wants_all_legal else view.legal[:MAX_LISTED]
            observation["legal"] = [env.codec.format(move, view) for move in listed]
        if player.wants_form:
            observation["form"] = restate_request(env.codec.language)
        if player.wants_picture:
            observation["picture"] = env.draw(agent)
        return text, observation
    return env.codec.observation(env.view(agent)), script_observation(env, agent, player.reads)


def script_observation(env: TextEnv, agent: str, reads: str) -> Any:
    """Returns the observation of a scripted policy with this ``reads``; see ``agents.policy``."""
    if reads == "view":
        return env.view(agent)
    if reads == "vector":
        return env.vector(agent)
    return partial(env.random_action if reads == "draw" else env.game.sampled, agent)


async def _tell(env: TextEnv, watchers: Mapping[str, Player], rewards: Mapping[str, float]) -> None:
    """Sends watching players their current text, and at the end the rewards of all."""
    over = any(env.terminations.values())
    common: dict[str, Any] = {"over": over, "language": env.codec.language}
    if over:
        common |= {"rewards": dict(rewards), "undecided": env.game.undecided}
    else:
        common |= {"to_move": env.agent_selection}
    for agent, player in watchers.items():
        read = env.observe(agent)
        text = env.codec.for_person(env.view(agent)) if player.is_person and not over else read["text"]
        picture = env.draw(agent) if player.wants_picture else ""
        with _naming(agent):
            await player.watch({**common, "rules": read["rules"], "text": text, "picture": picture})


def step_rewards(env: TextEnv, settings: TurnSettings) -> dict[str, float]:
    """Returns the reward of each agent for the last step of an environment."""
    paid = {agent: float(reward) for agent, reward in env.rewards.items()}
    if not settings.pay_opponents and any(info["illegal"] for info in env.infos.values()):
        return {agent: reward if env.infos[agent]["illegal"] else 0.0 for agent, reward in paid.items()}
    return paid


def _compare(recorded: Turn, turn: Turn) -> None:
    """Raises a ``ReplayMismatch`` naming the first field where a turn differs from its record."""
    if turn == recorded:
        return
    for name in (field.name for field in fields(Turn)):
        expected, got = getattr(recorded, name), getattr(turn, name)
        if expected != got:
            raise ReplayMismatch(f"turn {turn.index}: expected {name} {expected!r}, got {got!r}")
