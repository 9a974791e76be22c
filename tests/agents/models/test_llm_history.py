"""What LLMPolicy remembers of a match."""

import asyncio
import contextlib
import itertools

import pytest

from agents.baselines.general import FirstLegal
from agents.errors import ProviderError
from agents.models.llm import LLMPolicy
from agents.play import play_async
from agents.player import seat_players
from agents.turn import TurnSettings
from llmarena_envs import tictactoe_v0
from tests.agents.llm_calls import OBSERVATION
from tests.support.hostile_server import hostile_server, say

pytestmark = pytest.mark.usefixtures("own_environment")


def conversation(request):
    return [(message["role"][0], message["content"]) for message in request.body["messages"]]


def play_first_turns(server, turns, settings=None, **options):
    """Plays tic-tac-toe as X until ``turns`` own turns are over, and returns them with the policy."""
    policy = LLMPolicy("mock", base_url=server.url, **options)
    seen = []

    class Enough(Exception):
        pass

    def on_turn(turn):
        seen.append(turn)
        if sum(turn.agent == "player_0" for turn in seen) == turns:
            raise Enough

    async def run():
        players = seat_players({"player_0": policy, "player_1": FirstLegal()})
        with contextlib.suppress(Enough):
            await play_async(tictactoe_v0.env(), players, 3, settings or TurnSettings(), on_turn=on_turn)

    asyncio.run(run())
    return seen


def test_a_single_turn_holds_rules_text_and_what_was_wrong():
    with hostile_server(say("I give up"), say("X: (2, 2)"), say("X: (3, 3)")) as server:
        turns = play_first_turns(server, 2)
    first, again, second = map(conversation, server.requests)
    assert [role for role, _ in first] == [role for role, _ in again] == [role for role, _ in second] == ["s", "u"]
    assert again[1][1].startswith(first[1][1] + "\n\n")
    assert "I give up" in again[1][1]
    assert "no move was found" in again[1][1].splitlines()[-1]
    assert second[1][1] == turns[2].read
    assert "I give up" not in second[1][1]


def test_a_full_history_holds_each_turn_with_its_last_reply():
    with hostile_server(say("I give up"), say("X: (9, 9)"), say("X: (2, 2)"), say("X: (3, 3)")) as server:
        turns = play_first_turns(server, 2, history="full")
    first, second, third, last = map(conversation, server.requests)
    assert [role for role, _ in third] == ["s", "u", "a", "u", "a", "u"]
    assert third[1][1] == turns[0].read
    assert [text for role, text in third if role == "a"] == ["I give up", "X: (9, 9)"]
    assert "no move was found" in third[3][1]
    assert "rows and columns go from 1 to 3" in third[5][1]
    assert len(third[3][1].splitlines()) == len(third[5][1].splitlines()) == 1
    assert third[: len(second)] == second
    assert second[: len(first)] == first
    assert last == [*first, ("a", "X: (2, 2)"), ("u", turns[2].read)]


@pytest.mark.parametrize("rejected", ["cap", "drop"])
def test_a_history_of_updates_says_what_is_new_in_a_turn(rejected):
    with hostile_server(say("X: (2, 2)"), say("I give up"), say("X: (3, 3)"), say("X: (1, 3)")) as server:
        turns = play_first_turns(server, 3, history="updates", rejected=rejected)
    first, second, again, last = map(conversation, server.requests)
    update = second[3][1]
    assert second == [*first, ("a", "X: (2, 2)"), ("u", update)]
    assert update.startswith("Moves since then: X: (2, 2), O: (1, 1)\nBoard:\nO|_|_\n_|X|_\n_|_|_\n")
    assert update not in turns[2].read
    if rejected == "drop":
        assert again[:3] == second[:3]
        assert again[3][1].startswith(f"{update}\n\n")
        assert "I give up" in again[3][1]
    else:
        assert again[:5] == [*second, ("a", "I give up")]
        assert len(again[5][1].splitlines()) == 1
    assert last[: len(second)] == second
    assert last[4] == ("a", "X: (3, 3)")
    assert last[5][1].startswith("Moves since then: X: (3, 3), O: (1, 2)\n")


def test_without_bad_replies_requests_of_a_match_only_ever_grow_at_their_end():
    with hostile_server(say("X: (2, 2)"), say("X: (3, 3)"), say("X: (1, 3)")) as server:
        play_first_turns(server, 3, history="full")
    for shorter, longer in itertools.pairwise(map(conversation, server.requests)):
        assert longer[: len(shorter)] == shorter


@pytest.mark.parametrize("rejected", ["keep", "cap", "drop"])
def test_what_is_sent_of_a_rejected_reply(rejected):
    babble = f"{'blah ' * 1000}the end"
    with hostile_server(say(babble), say("X: (2, 2)")) as server:
        play_first_turns(server, 1, history="full", rejected=rejected)
    first, again = map(conversation, server.requests)
    sent = {"keep": babble, "cap": f"[...] {babble[-994:]}"}
    if rejected == "drop":
        assert [role for role, _ in again] == ["s", "u"]
        assert again[1][1].startswith(f"{first[1][1]}\n\n")
        assert "the end" in again[1][1]
    else:
        assert again[:3] == [*first, ("a", sent[rejected])]


def test_a_full_history_without_feedback_forgets_rejected_replies():
    with hostile_server(say("I give up"), say("no"), say("X: (2, 2)"), say("X: (3, 3)")) as server:
        turns = play_first_turns(server, 2, TurnSettings(feedback=False), history="full")
    first, second, third, last = map(conversation, server.requests)
    assert first == second == third
    assert last[2:] == [("a", "X: (2, 2)"), ("u", turns[2].read)]


def test_a_full_history_holds_no_empty_replies():
    script = [say(""), say(None, "length"), say("hm"), say(" "), say("X: (2, 2)"), say("X: (3, 3)")]
    with hostile_server(*script) as server:
        turns = play_first_turns(server, 2, TurnSettings(reasks=4), history="full")
    requests = [conversation(request) for request in server.requests]
    assert [len(messages) for messages in requests] == [2, 2, 2, 4, 4, 4]
    assert requests[2][1][1].startswith(turns[0].read)
    assert requests[3][2] == ("a", "hm")
    assert requests[4][3][1] != requests[3][3][1]
    assert requests[5][1:] == [("u", turns[0].read), ("a", "X: (2, 2)"), ("u", turns[2].read)]


@pytest.mark.parametrize("history", ["full", "updates"])
@pytest.mark.parametrize("feedback", [True, False])
def test_an_interrupted_match_goes_on_with_the_same_history(feedback, history):
    script = [say("I give up"), say(""), say("X: (2, 2)"), say("X: (9, 9)"), say("X: (3, 3)"), say("X: (1, 3)")]
    settings = TurnSettings(feedback=feedback)
    with hostile_server(*script) as server:
        turns = play_first_turns(server, 3, settings, history=history)
        whole = conversation(server.requests[5])
    with hostile_server(say("X: (1, 3)")) as server:
        policy = LLMPolicy("mock", base_url=server.url, history=history)
        players = seat_players({"player_0": policy, "player_1": FirstLegal()})
        with pytest.raises(ProviderError):
            asyncio.run(play_async(tictactoe_v0.env(), players, 3, settings, played=turns[:4]))
    assert conversation(server.requests[0]) == whole


def test_a_new_match_begins_with_an_empty_history():
    with hostile_server(say("one"), say("two")) as server:
        policy = LLMPolicy("mock", base_url=server.url, history="full")

        async def run():
            await policy(OBSERVATION)
            policy.reset("player_1", 1)
            await policy(OBSERVATION)

        asyncio.run(run())
    assert conversation(server.requests[0]) == conversation(server.requests[1])
