"""The example of a reply in an instruction is a legal action, and not the same kind of action at every turn."""

import importlib
import re
from collections import Counter

import numpy as np
import pytest

GAMES = [
    ("tictactoe_v0", {}),
    ("connect_four_v0", {}),
    ("hanabi_v0", {"life_tokens": 3}),
    ("hanabi_v0", {"life_tokens": 3, "players": 3, "colors": 3, "info_tokens": 1}),
    ("hanabi_v0", {"colors": 1, "ranks": 1, "hand_size": 1}),
    ("holdem_v0", {}),
    ("holdem_v0", {"players": 3, "hands": 3, "stack": 9, "cot": False}),
    ("holdem_v0", {"rules": "rlcard"}),
]
EXAMPLE = re.compile(r"(?:For instance[,:]|例如：?)\s*(.+?)(?: takes| drops| 表示|$)", re.MULTILINE)


@pytest.mark.slow_except(8)
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("name", "options"), GAMES, ids=[f"{name}-{options}" for name, options in GAMES])
def test_the_example_is_legal_and_changes(name, options, language):
    env = importlib.import_module(f"llmarena_envs.{name}").raw_env(language=language, **options)
    rng = np.random.default_rng(1)
    shown = Counter()
    possible = set()
    for seed in range(30):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            agent = env.agent_selection
            (example,) = EXAMPLE.findall(env.observe(agent)["text"])
            shown[env.parse(example, agent)] += 1
            possible.update(env.view(agent).legal)
            env.step(env.random_action(agent, rng))
    assert len(shown) > len(possible) / 2
    assert max(shown.values()) < 0.6 * shown.total()


@pytest.mark.parametrize("options", [{}, {"cot": False}, {"coin_step": 0.5}, {"endowment_mode": "initial", "mode": 2}])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_amount_of_an_investment_is_suggested(options, language):
    env = importlib.import_module("llmarena_envs.public_goods_v0").raw_env(language=language, **options)
    env.reset(seed=1)
    for _ in range(8):
        instruction = env.observe(env.agent_selection)["text"].partition("{")[2]
        assert '"coins": <' in instruction
        assert not re.search(r"\d", instruction)
        env.step(3)


@pytest.mark.parametrize("options", [{}, {"cot": False}, {"grid": 0.5}])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_amount_of_a_bid_is_suggested(options, language):
    bid = importlib.import_module("llmarena_envs.bid_v0").raw_env(language=language, **options)
    bid.reset(seed=1)
    instruction = bid.observe("player_0")["text"].split("player_0: ")[1]
    assert instruction.startswith("$d.cc\n")
    assert not re.search(r"\d", instruction)
