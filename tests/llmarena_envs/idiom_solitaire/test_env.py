"""What players and judges read, and idiom solitaire as an environment."""

import numpy as np
import pytest

from llmarena_envs import idiom_solitaire_v0
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.idiom_solitaire.grammar import has_extra_text


def env_at(*moves, seed=0, **options):
    env = idiom_solitaire_v0.raw_env(**{"start": "一心一意", **options})
    env.reset(seed=seed)
    for move in moves:
        env.step(move)
    return env


def test_history_comes_first_and_only_grows():
    env = env_at()
    before = env.observe("player_0")["text"].split("\n")[0]
    env.step("意气风发")
    env.step("发扬光大")
    assert env.observe("player_0")["text"].startswith(before)


def test_judge_reads_only_the_idiom():
    env = env_at("意在画外", accept_outside=True)
    told = env.observe("judge_0")
    assert "意在画外" in told["text"] and "意在画外" not in env.observe("player_1")["text"]
    for secret in ("一心一意", "player_0", "player_1"):
        assert secret not in told["text"] + told["rules"]


def test_traditional_characters_and_marks_are_the_same_idiom():
    env = env_at("《意氣風發》。", "發揚光大")
    assert env.game.chain == ("一心一意", "意气风发", "发扬光大")
    env.step("意气风发")
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    written = env_at("意氣風發", normalise="none")
    assert written.infos["player_0"]["unknown"] == 1  # follows, but is written otherwise in the list


def test_idiom_outside_the_list_keeps_its_spelling_in_the_chain():
    env = env_at("意在畫外", "裁决：是", accept_outside=True)
    assert env.game.chain[-1] == "意在畫外"
    assert env.infos["judge_0"]["ruled_yes"] == 1


@pytest.mark.parametrize(
    ("reply", "kind"), [("", Failure.EMPTY), ("三个字", Failure.UNPARSABLE), ("好", Failure.UNPARSABLE)]
)
def test_non_idiom_is_reasked_and_finally_loses(reply, kind):
    env = env_at()
    with pytest.raises(InvalidReply) as error:
        env.parse(reply, "player_0")
    assert error.value.kind is kind
    env.step(reply)
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert env.infos["player_0"]["illegal"] == kind and env.infos["player_0"]["end"] == 10


def test_a_wrong_idiom_is_a_legal_move_that_loses():
    env = env_at()
    assert env.parse("天下太平", "player_0") == "天下太平"
    env.step("天下太平")
    assert env.infos["player_0"]["illegal"] == 0 and env.infos["player_0"]["invalid"] == 1
    assert env.rewards["player_0"] == -1


def test_unreadable_players_give_up_and_judges_abstain():
    env = env_at(accept_outside=True)
    assert env.default_action("player_0") == "认输"
    env.step("意在画外")
    assert env.default_action("judge_0") == "裁决：弃权"
    declaration = idiom_solitaire_v0.raw_env.declaration
    assert (declaration.unparsable, declaration.illegal) == ("noop", "noop")
    assert [declaration.is_rated(agent) for agent in env.possible_agents] == [True, True, False]


def test_the_same_seed_gives_both_seats_the_same_start():
    starts = set()
    for seed in range(20):
        chains = {env_at(start=None, seed=seed, **options).game.chain for options in ({}, {"language": "en"})}
        assert len(chains) == 1
        starts |= chains
    assert len(starts) > 8


@pytest.mark.parametrize(
    ("reply", "extra"),
    [
        ("意气风发", False),
        ("《意气风发》。\n", False),
        ("**意气风发**", False),
        ("成语：意气风发", True),
        ("意气风发（yì qì fēng fā）", True),
        ("我选这个：\n意气风发", True),
    ],
)
def test_extra_text_is_detected(reply, extra):
    assert env_at().parse(reply, "player_0") == "意气风发"
    assert has_extra_text(reply, "意气风发") is extra


def test_random_matches_keep_the_identity_of_hits():
    ended = set()
    for seed in range(60):
        env = env_at(start=None, seed=seed, max_turns=6, accept_outside=bool(seed % 2))
        rng = np.random.default_rng(seed)
        while not any(env.terminations.values()):
            env.step("天长日暖" if rng.random() < 0.03 else env.random_action(env.agent_selection, rng))
        early, late = env.infos["player_0"], env.infos["player_1"]
        ended.add(early["end"])
        if early["end"] != 9:
            assert early["hits"] - late["hits"] == (env.rewards["player_0"] > 0)
        else:
            assert early["hits"] == late["hits"] == 3
    assert len(ended) >= 3
