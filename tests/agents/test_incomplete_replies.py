"""Moves in several parts: missing parts are asked for again, and given parts are kept."""

import asyncio
import pickle
import re
from typing import ClassVar, NamedTuple

import pytest

from agents.play import play, play_async
from agents.player import seat_players
from agents.turn import TurnSettings
from llmarena_envs.core.codec import Codec
from llmarena_envs.core.declaration import Declaration
from llmarena_envs.core.failures import Failure, InvalidReply, ParseError
from llmarena_envs.core.game import Game
from llmarena_envs.core.order import OrderWrapper
from llmarena_envs.core.text_env import TextEnv
from tests.agents.llm_calls import OBSERVATION, ask
from tests.support.hostile_server import hostile_server, say

NOOP = TurnSettings(unparsable="noop", illegal="noop")


class CoupletView(NamedTuple):
    agent: str
    to_move: bool
    legal: tuple[str, ...] = ()
    fresh: bool = False


class Couplet(Game[str, CoupletView]):
    """A poet writes two lines, in any order; the second turn is answered without the first one."""

    agents = ("poet_0",)
    max_turns = 2

    def reset(self, rng):
        self.lines = ()
        self.to_move, self.rewards = self.agents, (0.0,)

    def view(self, agent):
        return CoupletView(agent, bool(self.to_move), fresh=len(self.lines) == 1)

    def why_illegal(self, agent, action):
        return None

    def default_action(self, agent):
        return ""

    def apply(self, actions):
        self.lines += actions
        self.to_move = self.agents if len(self.lines) < 2 else ()


class CoupletCodec(Codec[str, CoupletView]):
    def rules(self, agent):
        return "Write a couplet."

    def observation(self, view):
        return "one: and two:"

    def read(self, reply, view):
        found = re.findall(r"^(?:one|two): .*", reply, re.MULTILINE)
        if len(found) < 2:
            raise ParseError(Failure.UNPARSABLE, "score_missing", role="a line", kept="\n".join(found))
        return "\n".join(found)

    def format(self, action, view):
        return action

    def picture(self, game):
        return "\n".join(game.lines)


class Poetry(TextEnv):
    metadata: ClassVar = {"name": "poetry_v0", "render_modes": ["ansi", "human"], "is_parallelizable": False}
    declaration = Declaration()
    obs_types = ("text",)
    fresh_turns = True

    def __init__(self):
        super().__init__(Couplet(), CoupletCodec())

    def read_action(self, action, agent):
        if action is None:
            raise InvalidReply(Failure.UNPARSABLE, "no text")
        return action


def replies(*texts):
    """Makes a policy that replies with the texts in order and records its prompts."""
    waiting, read = list(texts), []

    def policy(observation):
        read.append(observation)
        return waiting.pop(0)

    return policy, read


def poem(*texts, settings=NOOP):
    policy, read = replies(*texts)
    env = OrderWrapper(Poetry())
    return play(env, {"poet_0": policy}, 0, settings), read, env.unwrapped.game.lines


def test_reask_names_only_missing_parts():
    episode, read, lines = poem("one: roses", "two: violets", "one: x\ntwo: y")
    assert lines[0] == "one: roses\ntwo: violets"
    assert [attempt.reply for attempt in episode.turns[0].attempts] == ["one: roses", "two: violets"]
    assert "not complete" in read[1]["feedback"] and "one: roses" in read[1]["text"]
    assert read[1]["kept"] == "one: roses"
    assert [turn.fallback for turn in episode.turns] == ["", ""]


def test_given_parts_are_played_at_the_end():
    episode, read, lines = poem("one: roses", "hm", " ", "one: x\ntwo: y")
    assert lines[0] == "one: roses"
    assert episode.turns[0].fallback == "noop"
    assert "not understood" not in read[2]["feedback"]
    assert len(read) == 4


def test_turn_without_any_part_plays_the_default():
    episode, _, lines = poem("hm", "hm", "hm", "one: x\ntwo: y")
    assert lines[0] == ""
    assert episode.turns[0].fallback == "noop"


def test_requested_forfeit_is_a_forfeit():
    episode, *_ = poem("one: roses", "hm", "hm", settings=TurnSettings(unparsable="forfeit"))
    assert [turn.fallback for turn in episode.turns] == ["forfeit"]


def test_recorded_replies_lead_to_the_same_move():
    episode, *_ = poem("one: roses", "two: violets", "one: x", "hm", "hm")
    env = OrderWrapper(Poetry())
    again = asyncio.run(play_async(env, seat_players({"poet_0": Recalling()}), 0, NOOP, played=episode.turns))
    assert again == episode


class Recalling:
    def __call__(self, observation):
        raise AssertionError("asked, although everything was recorded")

    def recall(self, observation, reply):
        pass


def test_the_error_survives_pickling():
    error = pickle.loads(pickle.dumps(InvalidReply(Failure.UNPARSABLE, "no", "one: roses")))
    assert (error.kind, error.message, error.kept) == (Failure.UNPARSABLE, "no", "one: roses")


@pytest.mark.parametrize("feedback", [True, False])
def test_fresh_turn_is_sent_without_earlier_messages(feedback):
    fresh = {"rules": "the rules", "text": "again, blind", "fresh_history": 1}
    asked_again = {**fresh, "attempt": 1, "feedback": "go on" if feedback else ""}
    last = {"rules": "the rules", "text": "the end", "fresh_history": 0}
    with hostile_server(say("a"), say("b"), say("c"), say("d")) as server:
        ask(server, OBSERVATION, fresh, asked_again, last, history="full")
    sent = [[message["content"] for message in request.body["messages"]] for request in server.requests]
    assert sent[1] == ["the rules", "again, blind"]
    assert sent[2] == ["the rules", "again, blind", *(["b", "go on"] if feedback else [])]
    assert sent[3] == [*sent[0], "a", "again, blind", "c", "the end"]
