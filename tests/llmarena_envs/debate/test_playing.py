"""Debates through the loop of a match: repairs, fallbacks, and replay of the records."""

import asyncio

import pytest

from agents.play import play, play_async
from agents.player import seat_players
from agents.turn import TurnSettings
from llmarena_envs import debate_v0
from llmarena_envs.core.failures import Failure
from tests.llmarena_envs.debate.matches import FORMS, QUESTION

NOOP = TurnSettings(unparsable="noop", illegal="noop")


def guided(observation):
    """Gives every action that the guide names, without the ones that were given already."""
    text = observation["text"].rpartition("\n\nYou have said")[0] or observation["text"]
    guide = text.rpartition("\n\n")[2]
    missing = observation.get("feedback") or guide
    return "".join(f"<{action}>{said}</{action}>" for action, said in FORMS.items() if f"<{action}>" in missing)


def one_at_a_time(observation):
    """Gives the first of the actions that are asked for."""
    return guided(observation).partition("><")[0].removesuffix(">") + ">"


def silent(observation):
    return "" if "attempt" in observation else "I would rather not say"


def judge(observation):
    return "I cannot say." if "attempt" not in observation else "A answered. [[A]]"


def match(debaters, judges, language="en", seed=3):
    env = debate_v0.env(question=QUESTION, n_judges=len(judges), language=language)
    policies = dict(zip(("debater_0", "debater_1"), debaters, strict=True))
    policies |= {f"judge_{number}": policy for number, policy in enumerate(judges)}
    return env, play(env, policies, seed, NOOP)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_missing_actions_are_reasked_and_texts_are_not_repeated(language):
    env, episode = match([one_at_a_time, guided], [judge, judge], language)
    game = env.unwrapped.game
    assert sum(delivery.missing for delivery in game.deliveries) == 0
    assert not any(turn.fallback for turn in episode.turns)
    for turn, delivery in zip(episode.turns, game.deliveries, strict=False):
        asked = 1 if turn.agent == "debater_1" else len(delivery.passages)
        assert len(turn.attempts) == asked
        assert all(turn.played.count(FORMS[passage.action]) == 1 for passage in delivery.passages)
    assert [len(turn.attempts) for turn in episode.turns[9:]] == [2, 2, 2, 2]
    assert game.committee.winner == "A"


def test_silent_debater_only_loses_its_words():
    env, episode = match([silent, guided], [lambda observation: "[[A]]", silent])
    game = env.unwrapped.game
    info = env.unwrapped.infos["debater_0"]
    assert info["missing"] == 4 and info["words"] == 15  # text without tags is the response, if one is asked for
    assert env.unwrapped.infos["judge_1"]["abstained"] == 2
    assert {turn.fallback for turn in episode.turns if turn.agent == "debater_0"} == {"", "noop"}
    assert not game.undecided and len(game.deliveries) == 9
    kinds = [attempt.kind for turn in episode.turns if turn.agent == "judge_1" for attempt in turn.attempts]
    assert kinds == [Failure.UNPARSABLE, Failure.EMPTY, Failure.EMPTY] * 2


class Recalling:
    def __call__(self, observation):
        raise AssertionError("asked, although everything was recorded")

    def recall(self, observation, reply):
        pass


def test_recorded_debate_is_replayed():
    env, episode = match([one_at_a_time, silent], [judge, silent])
    players = seat_players({agent: Recalling() for agent in env.possible_agents})
    again = asyncio.run(play_async(env, players, 3, NOOP, played=episode.turns))
    assert again == episode
