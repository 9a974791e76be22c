"""A recorded match, told again: what its players were given to read, reply by reply."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agents.answers import Answer, read_again
from agents.errors import ReplayMismatch
from agents.play import Streams, observe
from agents.player import Player
from agents.records import Turn
from agents.turn import TurnSettings, add_feedback, kept_of
from llmarena_envs.core.text_env import TextEnv


def retell(
    env: TextEnv, turns: Sequence[Turn], seed: int, settings: TurnSettings, players: Mapping[str, Player]
) -> Iterator[tuple[Turn, int, Any]]:
    """Yields a turn, the number of a reply in it, from 0, and what was read before that reply was given.

    The recorded actions are played; of the replies only those that were asked for again are read once more, for what is kept of
    them.

    Args:
        env: a raw environment like that of the match.
        turns: what was recorded of it.
        seed: of the match.
        settings: what was done about replies that are no legal move.
        players: those that read text and of whom this is to be known, by agent; they are not asked.

    Raises:
        ReplayMismatch: if the record leads to another course of the match, or to other texts.
    """
    env.reset(seed=Streams(seed).game())
    last_views: dict[str, Any] = {}
    for turn in turns:
        agent = env.agent_selection
        if turn.agent != agent or any(env.terminations.values()):
            raise ReplayMismatch(f"turn {turn.index}: expected {agent} or the end of the match, got {turn.agent}")
        if agent in players:
            text, observation = observe(env, agent, players[agent], last_views)
            if text != turn.read:
                raise ReplayMismatch(f"turn {turn.index}: {agent} would read another text now than what was recorded")
            answers: list[Answer] = []
            for number, attempt in enumerate(turn.attempts):
                if answers:
                    yield turn, number, add_feedback(observation, answers, settings, env, agent)
                else:
                    yield turn, number, observation
                if number + 1 < len(turn.attempts):
                    again = read_again(env, agent, attempt, kept_of(answers))
                    answers.append(again._replace(attempt=attempt))  # as it was read then
        env.step(turn.action)
