"""Views read back out of the texts that were made of them."""

from typing import Any

import numpy as np
import pytest

from llmarena_envs.catalogue import make_environment

NOISE = "X: 1\nYou play X.\nMoves so far: none\nBoard:\nno board at all"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tictactoe_v0", {"random_opening": 3}),
        ("connect_four_v0", {"random_opening": 3}),
        ("bid_v0", {"rounds": 4}),
        ("bid_v0", {"n_bidders": 5, "rounds": 12, "cot": True}),
        ("bid_v0", {}),
    ],
)
def test_every_view_is_read_back(name: str, options: dict[str, Any], language: str) -> None:
    env = make_environment(name, {"language": language, **options}).unwrapped
    rng, turns = np.random.default_rng(5), 0
    for seed in range(5):
        env.reset(seed=seed)
        while env.game.to_move:
            for agent in env.possible_agents:
                text = env.observe(agent)["text"]
                assert env.codec.read_view(text) == env.view(agent)
                assert env.codec.read_view(f"{NOISE}\n{text}\n\n{NOISE}") == env.view(agent)
            env.step(env.random_action(env.agent_selection, rng))
            turns += 1
    assert turns >= 10


def test_the_last_of_several_positions_counts() -> None:
    env = make_environment("connect_four_v0", {}).unwrapped
    env.reset(seed=0)
    first = env.observe("player_0")["text"]
    env.step(3)
    second = env.observe("player_1")["text"]
    assert env.codec.read_view(f"{first}\n{second}") == env.view("player_1")
    assert env.codec.read_view(f"{second}\n{first}").moves == ()


@pytest.mark.parametrize(
    ("name", "options"), [("tictactoe_v0", {}), ("connect_four_v0", {"language": "zh"}), ("bid_v0", {"rounds": 4})]
)
def test_a_view_is_read_back_out_of_a_conversation_of_updates(name: str, options: dict[str, Any]) -> None:
    env = make_environment(name, options).unwrapped
    env.reset(seed=0)
    chats: dict[str, list[str]] = {}
    since: dict[str, Any] = {}
    rng, lost = np.random.default_rng(5), 0
    while not any(env.terminations.values()):
        agent, codec = env.agent_selection, env.codec
        view, chat = env.view(agent), chats.setdefault(agent, [])
        chat.append(codec.update(view, since[agent]) if chat else codec.observation(view))
        since[agent] = view
        assert codec.read_view("\n\n".join(chat)) == view
        assert codec.read_view("\n\n".join([*chat, "That was no legal move."])) == view
        if len(chat) > 2:
            assert codec.read_view("\n\n".join([*chat[:-2], chat[-1]])) is None  # an update is missing
            lost += 1
        env.step(env.random_action(agent, rng))
    assert lost


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("X: 4, O: 4", "X: 4, O: 3"),  # another board
        ("X: 4, O: 4", "O: 4, X: 4"),  # the wrong player begins
        ("X: 4, O: 4", "X: 4, O: 8"),
        ("X: 4, O: 4", ", ".join(["X: 4", "O: 4"] * 4)),  # more than a column holds
        ("_|_|_|O|_|_|_", "_|_|_|X|_|_|_"),
        ("Board:", "Bored:"),
    ],
)
def test_what_is_no_position_is_not_guessed(old: str, new: str) -> None:
    env = make_environment("connect_four_v0", {}).unwrapped
    env.reset(seed=0)
    env.step(3)
    env.step(3)
    text = env.observe("player_0")["text"]
    assert old in text
    assert env.codec.read_view(text.replace(old, new)) is None


@pytest.mark.parametrize(("old", "new"), [("Round 2 of", "Round 3 of"), ("player_0", "player_7"), ("$", "$9")])
def test_what_is_no_auction_is_not_guessed(old: str, new: str) -> None:
    env = make_environment("bid_v0", {"rounds": 3}).unwrapped
    env.reset(seed=0)
    for agent in env.possible_agents:
        env.step(env.random_action(agent, np.random.default_rng(0)))
    text = env.observe("player_0")["text"]
    assert env.codec.read_view(text) == env.view("player_0")
    assert old in text
    assert env.codec.read_view(text.replace(old, new)) is None


def test_a_game_whose_texts_say_less_than_its_views_reads_none() -> None:
    env = make_environment("holdem_v0", {}).unwrapped
    env.reset(seed=0)
    assert env.codec.read_view(env.observe(env.agent_selection)["text"]) is None
