"""Replay of recorded turns: each turn must follow from its replies, and every deviation is reported."""

import asyncio
import hashlib
import io
import itertools
from dataclasses import replace

import numpy as np
import pytest

from agents.baselines.general import FirstLegal, Random
from agents.errors import ReplayMismatch
from agents.human import HumanPolicy
from agents.play import play, play_async
from agents.player import seat_players
from agents.policy import Reply
from agents.records import Attempt, Turn, turn_digest
from agents.turn import TurnSettings
from llmarena_envs import bargain_v0, tictactoe_v0
from llmarena_envs.core.failures import Failure

SEED = 5
PATIENT = TurnSettings(unparsable="random_legal", illegal="random_legal")


class Recorded:
    """Has only the recorded replies."""

    def __call__(self, observation):
        raise AssertionError("asked again")

    def recall(self, observation, reply):
        pass


def replay(turns, env=None, settings=PATIENT, seed=SEED):
    env = env or tictactoe_v0.env()
    players = seat_players({agent: Recorded() for agent in env.possible_agents})
    return asyncio.run(play_async(env, players, seed, settings, played=turns))


def speaker(*answers):
    """Returns a policy that gives these answers and then plays the first free cell."""
    left = iter(answers)
    return lambda observation: next(left, int(observation["action_mask"].argmax()))


def rechain(turns):
    """Returns the turns with recomputed digests, as an attacker would to hide a change."""
    digest, chained = "", []
    for turn in turns:
        digest = turn_digest(digest, turn)
        chained.append(replace(turn, digest=digest))
    return tuple(chained)


ANSWERS = [
    "X: (2, 2)",
    "2, 3 or perhaps\nX: (2, 2)",
    Reply("X: (2, 2)", Failure.TRUNCATED, 7, 8, {"finish_reason": "length", 1: [1.5, None]}),
    Reply("X: (2,", Failure.TRUNCATED),
    Reply("I will not", Failure.REFUSAL),
    Reply("X: (2, 2)", Failure.REFUSAL),
    Reply("", Failure.EMPTY),
    Reply("X: (2, 2)", Failure.EMPTY),
    "",
    " \n",
    "I give up",
    "9",
    "4",
    "X: (9, 9)",
    "O: (1, 1)",
    "\ud800",
    4,
    np.int64(4),
    9,
    -1,
    10**18,
    None,
    True,
    np.True_,
    1.0,
    float("nan"),
    [4],
    type,
    b"X: (2, 2)",
]


@pytest.mark.parametrize("settings", [PATIENT, TurnSettings(unparsable="noop", illegal="forfeit", feedback=False)])
@pytest.mark.parametrize(
    "answers", [[answer] * 3 for answer in ANSWERS] + [[answer, 4] for answer in ANSWERS], ids=repr
)
def test_every_kind_of_answer_is_replayed(answers, settings):
    policies = {"player_0": speaker(*answers), "player_1": Random()}
    whole = play(tictactoe_v0.env(), policies, SEED, settings)
    again = replay(whole.turns, settings=settings)
    assert again == whole
    assert [turn.attempts[0].seconds for turn in again.turns] == [turn.attempts[0].seconds for turn in whole.turns]


def test_replay_repeats_a_persons_turns():
    lines = ["hello", "X: (9, 9)"] * 5 + ["X: (1, 1)", "X: (1, 2)", "X: (1, 3)"]
    person = HumanPolicy(io.StringIO("\n".join(lines) + "\n"), io.StringIO())

    class Bottom(FirstLegal):
        def __call__(self, view):
            return view.legal[-1]

    settings = TurnSettings(reasks=1)
    whole = play(tictactoe_v0.env(), {"player_0": person, "player_1": Bottom()}, SEED, settings)
    assert len(whole.turns[0].attempts) == 11
    assert replay(whole.turns, settings=settings) == whole


def test_text_actions_are_replayed():
    whole = play(bargain_v0.env(), {agent: speaker_of_texts() for agent in ("player_0", "player_1")}, SEED, PATIENT)
    assert any(turn.fallback for turn in whole.turns)
    assert replay(whole.turns, bargain_v0.env()) == whole


def speaker_of_texts():
    return lambda observation: "I am thinking"


@pytest.fixture(scope="module")
def whole():
    policies = {"player_0": speaker("I give up", "X: (9, 9)", "hm", "X: (9, 9)", 4), "player_1": Random()}
    return play(tictactoe_v0.env(), policies, SEED, PATIENT)


def changed(attempts, place, **fields):
    return (*attempts[:place], replace(attempts[place], **fields), *attempts[place + 1 :])


FIRST = {
    "index": {"index": 1},
    "agent": {"agent": "player_1"},
    "read": {"read": "something else"},
    "action": {"action": 0},
    "played": {"played": "X: (1, 1)"},
    "fallback": {"fallback": ""},
    "another fallback": {"fallback": "noop"},
    "rewards": {"rewards": {"player_0": 0.0, "player_1": 0.5}},
    "missing rewards": {"rewards": {}},
    "reply": lambda turn: {"attempts": changed(turn.attempts, 2, reply="X: (1, 1)")},
    "kind": lambda turn: {"attempts": changed(turn.attempts, 0, kind=Failure.ILLEGAL)},
    "message": lambda turn: {"attempts": changed(turn.attempts, 0, message="never mind")},
    "one reply less": lambda turn: {"attempts": turn.attempts[:2]},
    "one reply more": lambda turn: {"attempts": (*turn.attempts, Attempt("X: (1, 1)"))},
}


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("chained", [True, False])
def test_replay_finds_changed_first_turn_with_any_digest(whole, name, chained):
    first = whole.turns[0]
    assert (first.fallback, first.action) == ("random_legal", 8)
    change = FIRST[name](first) if callable(FIRST[name]) else FIRST[name]
    turns = (replace(first, **change), *whole.turns[1:])
    with pytest.raises(ReplayMismatch, match=r"^turn 0: "):
        replay(rechain(turns) if chained else turns)


def test_an_action_that_does_not_follow_from_its_reply_is_found(whole):
    index = next(
        turn.index for turn in whole.turns if turn.attempts[-1].kind is Failure.OK and turn.agent == "player_0"
    )
    turn = whole.turns[index]
    other = next(cell for cell in range(9) if cell not in {other.action for other in whole.turns[: index + 1]})
    played = f"X: ({other // 3 + 1}, {other % 3 + 1})"
    turns = (*whole.turns[:index], replace(turn, action=other, played=played), *whole.turns[index + 1 :])
    with pytest.raises(ReplayMismatch, match=f"^turn {index}: expected action {other}, got {turn.action}"):
        replay(rechain(turns))


def test_a_changed_digest_is_found(whole):
    turns = (*whole.turns[:2], replace(whole.turns[2], digest="0" * 64), *whole.turns[3:])
    with pytest.raises(ReplayMismatch, match=r"^turn 2: expected digest '0{64}'"):
        replay(turns)


def test_turns_after_the_end_of_a_match_are_found(whole):
    with pytest.raises(ReplayMismatch, match=f"expected {len(whole.turns) + 1} turns, but the match ended after"):
        replay((*whole.turns, whole.turns[-1]))


def test_another_fallback_in_the_settings_is_found(whole):
    with pytest.raises(ReplayMismatch, match=r"^turn 0: "):
        replay(whole.turns, settings=TurnSettings(unparsable="forfeit", illegal="forfeit"))


def test_turn_rewards_sum_to_match_rewards():
    settings = TurnSettings(unparsable="forfeit", pay_opponents=False)
    episode = play(tictactoe_v0.env(), {"player_0": lambda observation: "?", "player_1": FirstLegal()}, SEED, settings)
    assert episode.turns[-1].rewards == episode.rewards == {"player_0": -1.0, "player_1": 0.0}
    assert episode.turns[-1].played == ""


def test_recorded_actions_use_the_games_grammar(whole):
    env = tictactoe_v0.env()
    env.reset(seed=0)
    for turn in whole.turns:
        assert env.unwrapped.parse(turn.played, turn.agent) == turn.action
        env.step(turn.action)
    assert {"random_legal", ""} <= {turn.fallback for turn in whole.turns}


TURN = Turn(
    1, "player_0", "the text 井", 4, (Attempt("X: 井", Failure.OK, "", 3, 4, 1.5, {"b": 1, "a": [None]}),), "",
    {"player_0": 0.5, "player_1": -0.5}, "X: (2, 2)",
)  # fmt: skip


CANONICAL = (
    r'["before",{"action":4,"agent":"player_0","attempts":[{"completion_tokens":4,"detail":{"a":[null],"b":1},"kind":0,'
    r'"message":"","prompt_tokens":3,"reply":"X: \u4e95"}],"fallback":"","index":1,"played":"X: (2, 2)",'
    r'"read":"the text \u4e95","rewards":{"player_0":0.5,"player_1":-0.5}}]'
)


def test_digest_can_be_recomputed_independently():
    assert turn_digest("before", TURN) == hashlib.sha256(CANONICAL.encode()).hexdigest()


def test_digest_covers_all_fields_but_wall_times():
    attempt = TURN.attempts[0]
    other = [
        replace(TURN, index=2),
        replace(TURN, agent="player_1"),
        replace(TURN, read="the text"),
        replace(TURN, action=5),
        replace(TURN, action="4"),
        replace(TURN, fallback="noop"),
        replace(TURN, rewards={"player_0": 0.5, "player_1": 0.5}),
        replace(TURN, played="X"),
        replace(TURN, attempts=()),
        replace(TURN, attempts=(attempt, attempt)),
        *[
            replace(TURN, attempts=(replace(attempt, **change),))
            for change in (
                {"reply": "X"}, {"kind": Failure.TRUNCATED}, {"message": "m"}, {"prompt_tokens": 4},
                {"completion_tokens": 3}, {"detail": None}, {"detail": {"b": 1, "a": [0]}},
            )
        ],
    ]  # fmt: skip
    digests = [turn_digest("", turn) for turn in (TURN, *other)] + [turn_digest("0", TURN)]
    assert len(set(digests)) == len(other) + 2
    same = [
        replace(TURN, digest="x"),
        replace(TURN, attempts=(replace(attempt, seconds=9.0, detail={"a": [None], "b": 1}),)),
        replace(TURN, rewards={"player_1": -0.5, "player_0": 0.5}),
    ]
    assert {turn_digest("", turn) for turn in same} == {digests[0]}


def test_match_digest_equals_the_last_turns_digest(whole):
    assert whole.digest == whole.turns[-1].digest
    assert [turn.digest for turn in rechain(whole.turns)] == [turn.digest for turn in whole.turns]
    assert len({turn.digest for turn in whole.turns}) == len(whole.turns)
    assert all(len(turn.digest) == 64 for turn in whole.turns)
    for shorter, longer in itertools.pairwise(whole.turns):
        assert turn_digest(shorter.digest, longer) == longer.digest
