import json

import numpy as np
import pytest

from llmarena_envs import undercover_v0
from llmarena_envs.core.options import OptionError

PAIR = ["zyxqua", "vubnor"]


def test_eliminated_players_stay_unasked_and_get_last_reward():
    env = undercover_v0.env()
    rng = np.random.default_rng(0)
    rounds = set()
    for seed in range(30):
        env.reset(seed=seed)
        raw, last = env.unwrapped, {}
        for agent in env.agent_iter():
            _, reward, over, truncated, _ = env.last()
            assert not truncated
            if over:
                last[agent] = reward
                env.step(None)
            else:
                assert agent in raw.game.living
                assert env.agents == env.possible_agents
                env.step(raw.random_action(agent, rng))
        undercover_won = len(raw.game.living) == 3 and raw.game.undercovers[0] in raw.game.living
        rounds.add(len(raw.game.results))
        assert last == {
            agent: 1.0 if (agent in raw.game.undercovers) == undercover_won else -1.0 for agent in env.possible_agents
        }
    assert rounds == {1, 2}


def test_the_default_action_is_a_flagged_blank_clue():
    env = undercover_v0.raw_env()
    env.reset(seed=0)
    for _ in range(5):
        agent = env.agent_selection
        assert env.default_action(agent) == f"{agent}:"
        env.step(env.default_action(agent))
        assert env.infos[agent]["blank_clues"] == 1
    assert env.default_action(env.agent_selection) is None
    assert not any(env.terminations.values())


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    "options",
    [{}, {"n_players": 9, "n_undercover": 3, "max_rounds": 5}, {"ask_guess": True}, {"language": "zh", "cot": True}],
)
def test_neither_the_side_nor_another_word_reaches_a_player(options):
    env = undercover_v0.raw_env(pair=PAIR, **options)
    rng = np.random.default_rng(0)
    for seed in range(10):
        env.reset(seed=seed)
        words = {agent: env.game.word(agent) for agent in env.possible_agents}
        assert set(words.values()) == set(PAIR)
        while not any(env.terminations.values()):
            for agent, word in words.items():
                (other,) = set(PAIR) - {word}
                read = json.dumps([env.observe(agent), env.view(agent)], ensure_ascii=False)
                assert word in read
                assert other not in read
                told = {name for name, value in env.infos[agent].items() if value != -1}
                assert told == {"illegal", "blank_clues", "votes_received", "eliminated_round"}
            env.step(env.random_action(env.agent_selection, rng))


def test_observations_are_the_same_for_both_sides():
    """player_0 holds the same word, once as the undercover player and once as an ordinary one."""
    envs = [
        undercover_v0.raw_env(pair=pair, seat=seat, swap_words=False, first_player=0, ask_guess=True)
        for pair, seat in ((PAIR, 0), (PAIR[::-1], 1))
    ]
    rng = np.random.default_rng(0)
    for env in envs:
        env.reset(seed=0)
    while not any(envs[0].terminations.values()):
        assert envs[0].observe("player_0") == envs[1].observe("player_0")
        assert envs[0].infos["player_0"] == envs[1].infos["player_0"]
        if len(envs[0].game.results) == 1:
            break
        agent = envs[0].agent_selection
        action = "vote: player_4" if agent != "player_4" and envs[0].game.stage == "vote" else None
        action = action or envs[0].random_action(agent, rng)
        for env in envs:
            env.step(action)
    assert [env.game.undercovers for env in envs] == [("player_0",), ("player_1",)]


def test_word_lists(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("night - evening\nsea - lake\n", encoding="utf-8")
    env = undercover_v0.raw_env(word_pairs=str(path))
    words = set()
    for seed in range(20):
        env.reset(seed=seed)
        words.add(frozenset(env.game.words))
    assert words == {frozenset(["night", "evening"]), frozenset(["sea", "lake"])}
    env = undercover_v0.raw_env(language="zh")
    env.reset(seed=0)
    assert all("\u4e00" <= word[0] <= "\u9fff" for word in env.game.words)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pair": ["plum", "Plum"]}, "pair: expected two different words"),
        ({"pair": ["plum"]}, "pair: expected two words"),
        ({"pair": "ab"}, "pair: expected two words"),
        ({"pair": 5}, "pair: expected two words"),
        ({"pair": ["plum", 3]}, "pair: expected a word"),
        ({"pair": PAIR, "word_pairs": "x"}, "at most one of them"),
        ({"word_pairs": "/nowhere/x.csv"}, "word_pairs: cannot read"),
        ({"language": "xx"}, "language"),
        ({"cot": 1}, "cot"),
        ({"obs_type": "vector"}, "obs_type"),
        ({"n_players": 12}, "n_players"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(OptionError, match=message):
        undercover_v0.env(**options)
