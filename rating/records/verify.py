"""Verification: a recorded match is played again and everything is compared."""

import asyncio
from dataclasses import replace
from typing import Any

from agents.errors import ReplayMismatch
from agents.play import play_async
from agents.records import Episode
from agents.turn import TurnSettings
from llmarena_envs.catalogue import make_environment
from rating.records import version_1
from rating.records.outcome import FINISHED, Outcome
from rating.records.record import Record, outcome_of


class _Recorded:
    """A policy that answers from the record only."""

    def __call__(self, observation: Any) -> Any:
        raise ReplayMismatch("the match went on after its last recorded turn")

    def recall(self, observation: Any, reply: str) -> None:
        """Lets a recorded turn pass."""


def verify(record: Record, settings: TurnSettings) -> str:
    """Plays a finished match again from its recorded replies.

    Args:
        record: the match.
        settings: treatment of bad replies in its run.

    Returns:
        What differs from the record, or an empty string if every observation, reward and the outcome are the same.
    """
    if record.outcome is None or record.status != FINISHED:
        return f"expected a finished match, this one is {record.status}"
    try:
        env = make_environment(record.match.environment, record.match.options)
        policies = {agent: _Recorded() for agent in env.possible_agents}
        episode = asyncio.run(play_async(env, policies, record.match.seed, settings, played=record.turns))
        outcome = outcome_of(record.match, env.possible_agents, episode)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if len(record.digest) == version_1.DIGEST_LENGTH:
        return _compare_version_1(record, episode, outcome)
    if episode.digest != record.digest:
        return f"expected digest {record.digest}, got {episode.digest}"
    return _compare_outcomes(record.outcome, outcome)


def _compare_version_1(record: Record, episode: Episode, outcome: Outcome) -> str:
    """Compares what a record of version 1 holds: texts, actions, rewards and the outcome."""
    assert record.outcome is not None
    digest = version_1.digest_of(record.turns)
    if digest != record.digest:
        return f"expected digest {record.digest}, got {digest}"
    for old, new in zip(record.turns, episode.turns, strict=True):
        if old.rewards != new.rewards:
            return f"turn {old.index}: expected rewards {dict(old.rewards)}, got {dict(new.rewards)}"
    return _compare_outcomes(record.outcome, outcome)


def _compare_outcomes(recorded: Outcome, played: Outcome) -> str:
    if not recorded.seats[0].agent:  # early records do not name the agents
        played = replace(played, seats=tuple(replace(seat, agent="") for seat in played.seats))
    return "" if played == recorded else f"expected the outcome {recorded}, got {played}"
