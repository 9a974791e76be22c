"""Rebuilds recorded matches."""

from pettingzoo import AECEnv

from agents.play import Streams
from rating.store.records import Match, Record
from rating.store.replay import recorded_environment


def begun(match: Match) -> AECEnv:
    """Returns the raw environment at the start of a match; the recorded actions can be played in it."""
    env = recorded_environment(match).unwrapped
    env.reset(seed=Streams(match.seed).game())
    return env


def played(record: Record) -> AECEnv:
    """Returns the raw environment of a recorded match after its last action."""
    env = begun(record.match)
    for turn in record.turns:
        env.step(turn.action)
    return env
