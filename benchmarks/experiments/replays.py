"""Recorded matches, set up again."""

from pettingzoo import AECEnv

from agents.play import Streams
from llmarena_envs.catalogue import make_environment
from rating.records.match import Match


def begun(match: Match) -> AECEnv:
    """Returns the raw environment of a match as the match began; the recorded actions can be played in it."""
    env = make_environment(match.environment, match.options).unwrapped
    env.reset(seed=Streams(match.seed).game())
    return env
