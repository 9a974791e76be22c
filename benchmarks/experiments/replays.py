"""Recorded matches, set up again."""

from pettingzoo import AECEnv

from agents.play import Streams
from llmarena_envs.catalogue import make_environment
from rating.records.match import Match
from rating.records.record import Record


def begun(match: Match) -> AECEnv:
    """Returns the raw environment of a match as the match began; the recorded actions can be played in it."""
    env = make_environment(match.environment, match.options).unwrapped
    env.reset(seed=Streams(match.seed).game())
    return env


def played(record: Record) -> AECEnv:
    """Returns the raw environment of a recorded match after its last action."""
    env = begun(record.match)
    for turn in record.turns:
        env.step(turn.action)
    return env
