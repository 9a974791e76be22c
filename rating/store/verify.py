"""Verification: replays a recorded match and compares every observation, reward and the outcome."""

import asyncio
from collections.abc import Callable
from typing import Any

from pettingzoo import AECEnv

from agents.errors import ReplayMismatch
from agents.play import play_async
from agents.player import Player
from agents.policy import Policy
from agents.records import Episode
from agents.turn import TurnSettings
from rating.store.records import PLAYED, Outcome, Record, outcome_of
from rating.store.replay import recorded_environment

_NO_SANDBOX = (
    "programs of this match run only in a sandbox that isolates them, and this machine has none;"
    " python -m llmarena_envs.sandbox says what is missing"
)


class Recorded:
    """A policy that only replays recorded replies."""

    def __call__(self, observation: Any) -> Any:
        """Raises ``ReplayMismatch``: no recorded reply is left."""
        raise ReplayMismatch("the match went on after its last recorded turn")

    def recall(self, observation: Any, reply: str) -> None:
        """Ignores a recorded reply; subclasses override this to observe the match."""


def verify(record: Record, settings: TurnSettings) -> str:
    """Replays a finished match from its recorded replies.

    Args:
        record: the match.
        settings: invalid-reply policy of the run.

    Returns:
        The difference to the record, or an empty string if every observation, reward and the outcome are the same.
    """
    try:
        play_again(record, settings)
    except ReplayMismatch as error:
        return str(error)
    return ""


def play_again(
    record: Record, settings: TurnSettings, seat: Callable[[str], Policy] = lambda agent: Recorded()
) -> Episode:
    """Replays a match like ``verify`` and returns the episode.

    Args:
        record: the match.
        settings: invalid-reply policy of the run.
        seat: returns the policy that observes from the seat of an agent, a ``Recorded``.

    Raises:
        ReplayMismatch: if the replay differs from the record or fails.
    """
    if record.outcome is None or record.status not in PLAYED:
        raise ReplayMismatch(f"expected a finished match, this one is {record.status}")
    try:
        env = recorded_environment(record.match)
    except Exception as error:
        raise ReplayMismatch(f"{type(error).__name__}: {error}") from error
    try:
        return _play_again(env, record, record.outcome, settings, seat)
    except ReplayMismatch as error:
        if env.unwrapped.lacks_sandbox():
            raise ReplayMismatch(_NO_SANDBOX) from error
        raise


def _play_again(
    env: AECEnv, record: Record, expected: Outcome, settings: TurnSettings, seat: Callable[[str], Policy]
) -> Episode:
    try:
        players = {agent: Player(seat(agent)) for agent in env.possible_agents}
        episode = asyncio.run(play_async(env, players, record.match.seed, settings, played=record.turns))
        outcome = outcome_of(record.match, env.possible_agents, episode)
    except Exception as error:
        raise ReplayMismatch(f"{type(error).__name__}: {error}") from error
    if episode.digest != record.digest:
        raise ReplayMismatch(f"expected digest {record.digest}, got {episode.digest}")
    if outcome != expected:
        raise ReplayMismatch(f"expected the outcome {expected}, got {outcome}")
    return episode
