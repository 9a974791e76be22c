"""The loop that plays one match: replies good and bad, streams, interruption."""

import asyncio
import time

import numpy as np
import pytest

from agents.baselines.general import FirstLegal, Random
from agents.errors import EnvironmentBug, ProviderError, ReplayMismatch
from agents.play import play, play_async
from agents.player import seat_players
from agents.policy import Reply
from agents.training import Match
from agents.turn import TurnSettings
from llmarena_envs import bid_v0, tictactoe_v0
from llmarena_envs.catalogue import NAMES, make_environment
from llmarena_envs.core.failures import Failure

FORFEIT = TurnSettings(unparsable="forfeit")


def play_against_first_legal(policy, settings=FORFEIT, **options):
    return play(tictactoe_v0.env(**options), {"player_0": policy, "player_1": FirstLegal()}, 7, settings)


def test_a_scripted_match_is_played_to_its_end():
    episode = play(tictactoe_v0.env(), {"player_0": Random(), "player_1": Random()}, seed=1)
    assert sum(episode.rewards.values()) == 0
    assert [turn.index for turn in episode.turns] == list(range(len(episode.turns)))
    assert all(turn.attempts[-1].kind is Failure.OK for turn in episode.turns)


def test_play_same_seed_repeats_the_match():
    env = tictactoe_v0.env(random_opening=2)

    def digest(seed):
        return play(env, {"player_0": Random(), "player_1": Random()}, seed).digest

    assert digest(1) == digest(1)
    assert len({digest(seed) for seed in range(10)}) == 10


def test_seats_have_streams_of_their_own():
    episode = play(tictactoe_v0.env(), {"player_0": Random(), "player_1": Random()}, seed=1)
    swapped = {"player_0": Random(), "player_1": FirstLegal()}
    assert episode.turns[0].action == play(tictactoe_v0.env(), swapped, seed=1).turns[0].action


def asyncio_policy(text):
    async def policy(observation):
        await asyncio.sleep(0)
        return text

    return policy


@pytest.mark.parametrize(
    "answer",
    ["X: (2, 2)", 4, np.int64(4), np.uint8(4), Reply("X: (2, 2)"), Reply("(2, 2)", Failure.TRUNCATED)],
)
def test_answers_that_state_a_move(answer):
    turn = play_against_first_legal(lambda observation: answer).turns[0]
    assert turn.action == 4
    assert type(turn.action) is int
    assert turn.attempts[0].kind in (Failure.OK, Failure.TRUNCATED)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (None, Failure.UNPARSABLE),
        (1.0, Failure.UNPARSABLE),
        (float("nan"), Failure.UNPARSABLE),
        (True, Failure.UNPARSABLE),
        ([4], Failure.UNPARSABLE),
        (9, Failure.ILLEGAL),
        (-1, Failure.ILLEGAL),
        ("", Failure.EMPTY),
        (" \n\t", Failure.EMPTY),
        ("I would rather not say", Failure.UNPARSABLE),
        ("x" * 1_000_000, Failure.UNPARSABLE),
        ("\ud800", Failure.UNPARSABLE),
        ("X: (4, 4)", Failure.ILLEGAL),
        ("O: (1, 1)", Failure.ILLEGAL),
        (Reply("", Failure.TRUNCATED), Failure.TRUNCATED),
        (Reply("I cannot", Failure.REFUSAL), Failure.REFUSAL),
    ],
)
def test_unparsable_replies_are_reasked_then_forfeit(answer, kind):
    episode = play_against_first_legal(lambda observation: answer)
    (turn,) = episode.turns
    assert [attempt.kind for attempt in turn.attempts] == [kind] * 3
    assert turn.fallback == "forfeit"
    assert episode.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert episode.forfeit("player_0") == kind.name.lower()
    assert episode.forfeit("player_1") == ""


def test_play_takes_second_reply_with_feedback():
    seen = []

    def policy(observation):
        seen.append(dict(observation))
        return "X: (9, 9)" if len(seen) == 1 else int(np.flatnonzero(observation["action_mask"])[0])

    episode = play_against_first_legal(policy)
    assert episode.turns[0].action == 0
    assert not episode.turns[0].fallback
    assert "attempt" not in seen[0]
    assert seen[1]["attempt"] == 1
    assert "rows and columns go from 1 to 3" in seen[1]["feedback"]
    assert "X: (9, 9)" not in seen[1]["feedback"]
    assert seen[1]["text"].startswith(seen[0]["text"] + "\n\n")
    assert "X: (9, 9)" in seen[1]["text"]
    assert seen[1]["text"].endswith("\n" + seen[1]["feedback"])


def test_without_feedback_the_identical_prompt_is_sent():
    seen = []

    def policy(observation):
        seen.append(dict(observation))
        return "?"

    play_against_first_legal(policy, TurnSettings(feedback=False, unparsable="forfeit"))
    assert len({observation["text"] for observation in seen}) == 1
    assert [observation.get("feedback") for observation in seen] == [None, "", ""]


def test_llmarena_preset_ends_match_at_first_illegal_move():
    settings = TurnSettings(reask_illegal=False, feedback=False, pay_opponents=False)
    episode = play_against_first_legal(lambda observation: "X: (4, 4)", settings)
    assert episode.rewards == {"player_0": -1.0, "player_1": 0.0}
    assert len(episode.turns[0].attempts) == 1
    assert episode.forfeit("player_0") == "illegal"


def test_random_legal_fallback_is_seeded_and_play_continues():
    settings = TurnSettings(unparsable="random_legal")
    first, second = (play_against_first_legal(lambda observation: "?", settings) for _ in range(2))
    assert first.digest == second.digest
    own = [turn for turn in first.turns if turn.agent == "player_0"]
    assert all(turn.fallback == "random_legal" and turn.action is not None for turn in own)
    assert first.forfeit("player_0") == ""


def test_a_game_without_a_harmless_move_plays_a_random_one_instead():
    settings = TurnSettings(unparsable="noop")
    turn = play_against_first_legal(lambda observation: "?", settings).turns[0]
    assert turn.fallback == "random_legal"
    assert turn.action == play_against_first_legal(lambda observation: "?", TurnSettings()).turns[0].action
    silent = play(bid_v0.env(), {agent: lambda observation: "?" for agent in ("player_0", "player_1")}, 7, settings)
    assert {(turn.fallback, turn.action) for turn in silent.turns} == {("noop", 0)}


def test_match_beyond_its_turn_bound_is_an_environment_bug():
    env, turns = tictactoe_v0.env(), []
    env.unwrapped.max_turns = 4
    players = seat_players({"player_0": FirstLegal(), "player_1": FirstLegal()})
    with pytest.raises(EnvironmentBug, match="published bound of 4 turns"):
        asyncio.run(play_async(env, players, 7, on_turn=turns.append))
    assert len(turns) == 4


def test_view_and_vector_policies_are_reasked_with_their_input():
    class Clumsy:
        def __init__(self, reads):
            self.reads, self.seen = reads, []

        def __call__(self, observation):
            self.seen.append(observation)
            return 9 if len(self.seen) % 2 else int(np.flatnonzero(self.mask(observation))[0])

        def mask(self, observation):
            if self.reads == "vector":
                return observation["action_mask"]
            return [cell in observation.legal for cell in range(9)]

    players = {"player_0": Clumsy("view"), "player_1": Clumsy("vector")}
    episode = play(tictactoe_v0.env(), players, 7)
    assert {len(turn.attempts) for turn in episode.turns} == {2}
    assert players["player_0"].seen[0] is players["player_0"].seen[1]
    assert list(players["player_1"].seen[1]) == ["observation", "action_mask"]


def test_unrecordable_reply_is_a_provider_failure():
    with pytest.raises(ProviderError, match="recording the policy's answer"):
        play_against_first_legal(lambda observation: 10**5000)
    with pytest.raises(ProviderError, match="recording the policy's answer"):
        play_against_first_legal(lambda observation: Reply("X: (2, 2)", detail={(1, 2): 3}))


def test_records_can_be_stored():
    detail = {"id": b"\x00", "text": "a\ud800b", 1: (2, float("inf"))}
    attempt = (
        play_against_first_legal(lambda observation: Reply("\udfff X: (2, 2)", detail=detail)).turns[0].attempts[0]
    )
    assert attempt.detail == {"id": "b'\\x00'", "text": "a?b", "1": [2, float("inf")]}
    attempt.reply.encode()


def test_exception_inside_a_policy_is_a_provider_failure():
    def raises(observation):
        raise KeyError("boom")

    with pytest.raises(ProviderError, match="KeyError"):
        play_against_first_legal(raises)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_policy_that_never_answers_is_given_up_at_the_deadline(asynchronous):
    async def sleeps(observation):
        await asyncio.sleep(3600)

    policy = sleeps if asynchronous else lambda observation: time.sleep(3600)
    with pytest.raises(ProviderError, match="no reply within"):
        play_against_first_legal(policy, TurnSettings(deadline=0.05))


def test_a_deadline_lets_answers_in_time_pass():
    settings = TurnSettings(deadline=30)
    for policy in (asyncio_policy("X: (2, 2)"), lambda observation: "X: (2, 2)"):
        assert play_against_first_legal(policy, settings).turns[0].action == 4


def test_interrupted_match_resumes_to_the_same_end():
    env = tictactoe_v0.env(random_opening=1)
    policies = {"player_0": Random(), "player_1": Random()}
    whole = play(env, policies, seed=5)
    for cut in range(len(whole.turns) + 1):
        new = []
        rest = asyncio.run(play_async(env, seat_players(policies), 5, played=whole.turns[:cut], on_turn=new.append))
        assert rest == whole
        assert len(new) == len(whole.turns) - cut


def test_a_policy_with_a_memory_recalls_instead_of_answering_again():
    class Remembers:
        def __init__(self):
            self.asked, self.recalled = 0, []

        def __call__(self, observation):
            self.asked += 1
            return int(np.flatnonzero(observation["action_mask"])[0])

        def recall(self, observation, reply):
            self.recalled.append(reply)

    env, first = tictactoe_v0.env(), Remembers()
    whole = play(env, {"player_0": first, "player_1": FirstLegal()}, seed=5)
    again = Remembers()
    played = whole.turns[:3]
    asyncio.run(play_async(env, seat_players({"player_0": again, "player_1": FirstLegal()}), 5, played=played))
    assert again.recalled == ["X: (1, 1)", "X: (1, 3)"]
    assert again.asked == first.asked - 2


@pytest.mark.parametrize("has_recall", [True, False])
def test_error_while_resuming_a_match_is_a_provider_failure(has_recall):
    class Fails:
        def __call__(self, observation):
            raise OSError("the line is dead")

    if has_recall:
        Fails.recall = lambda self, observation, reply: self(observation)
    env = tictactoe_v0.env()
    whole = play(env, {"player_0": FirstLegal(), "player_1": FirstLegal()}, seed=5)
    players = seat_players({"player_0": Fails(), "player_1": FirstLegal()})
    with pytest.raises(ProviderError, match="OSError: the line is dead"):
        asyncio.run(play_async(env, players, 5, played=whole.turns[:3]))


def test_turns_of_another_match_are_refused_before_recall():
    class Remembers(Random):
        def recall(self, observation, reply):
            raise AssertionError("recalls what another match was about")

    env = tictactoe_v0.env(random_opening=2)
    turns = play(env, {"player_0": Random(), "player_1": Random()}, 5).turns
    players = seat_players({"player_0": Remembers(), "player_1": Remembers()})
    with pytest.raises(ReplayMismatch, match=r"turn 0: expected player_\d in turn 0 reading"):
        asyncio.run(play_async(env, players, 6, played=turns))


def test_policies_must_fit_the_agents():
    with pytest.raises(ValueError, match="player_1"):
        play(tictactoe_v0.env(), {"player_0": Random()}, seed=0)
    with pytest.raises(ValueError, match="obs_type='text'"):
        play(tictactoe_v0.env(obs_type="vector"), {"player_0": Random(), "player_1": Random()}, seed=0)


def test_policies_get_the_input_they_request():
    class Reads:
        def __init__(self, reads):
            self.reads = reads
            self.read = []

        def __call__(self, observation):
            self.read.append(observation)
            return FirstLegal()(observation) if self.reads == "view" else int(observation["action_mask"].argmax())

    view, vector = Reads("view"), Reads("vector")
    play(tictactoe_v0.env(), {"player_0": view, "player_1": vector}, seed=0)
    assert view.read[0].board == "_" * 9
    assert list(vector.read[0]) == ["observation", "action_mask"]
    assert vector.read[0]["observation"].sum() == 1


@pytest.mark.parametrize("name", NAMES)
def test_play_uses_the_fallback_that_the_environment_declares(name):
    env = make_environment(name, {"objective": False} if name == "writer_editor_v0" else {})
    declared = env.unwrapped.declaration
    settings = TurnSettings(unparsable=declared.unparsable, illegal=declared.illegal)
    policies = {agent: lambda observation: "I cannot decide." for agent in env.possible_agents}
    episode = play(env, policies, 3)
    assert episode.digest == play(env, policies, 3, settings).digest
    assert any(turn.fallback for turn in episode.turns)
    match = Match(env, policies, seed=3)
    assert match.start_sync() is None
    assert match.episode.digest == episode.digest


@pytest.mark.parametrize("name", ["debate_v0", "simulation_v0", "writer_editor_v0", "idiom_solitaire_v0"])
def test_a_judge_without_a_verdict_abstains(name):
    options = {"objective": False} if name == "writer_editor_v0" else {}
    options |= {"accept_outside": True, "start": "一心一意"} if name == "idiom_solitaire_v0" else {}
    env = make_environment(name, options)
    policies = {agent: lambda observation: "意在画外" for agent in env.possible_agents}
    policies |= {agent: lambda observation: "I cannot decide." for agent in policies if agent.startswith("judge")}
    judged = [turn for turn in play(env, policies, 3).turns if turn.agent.startswith("judge")]
    assert judged[-1].fallback == "noop"
    assert judged[-1].played in ("abstain", "裁决：弃权")
