"""Reconstruction of players' observations from a recorded match, reply by reply."""

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
    """Yields a turn, the index of a reply in it, and the observation before that reply.

    The recorded actions are played. Replies are parsed again only if another reply followed, to find their accepted parts.

    Args:
        env: a raw environment like that used for the match.
        turns: the recorded turns.
        seed: of the match.
        settings: invalid-reply policy of the match.
        players: the text-reading players of interest, by agent; they are not asked.

    Raises:
        ReplayMismatch: if the match or its texts differ from the record.
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
                    answers.append(again._replace(attempt=attempt))  # as read originally
        env.step(turn.action)
