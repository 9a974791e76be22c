"""Pictures of hold'em: whose cards are seen when, who acts, and what can be pointed at."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from llmarena_envs.holdem.cards import card_names
from llmarena_envs.holdem.env import raw_env
from tests.llmarena_envs.holdem.table import LETTERS
from tests.support.pictures import described, replies, texts, texts_outside

DECK = "AhKd QcQs 2h 7c 9s Td 3d"


def after(actions: str, **options: Any) -> raw_env:
    """Returns the environment after some actions, one letter each."""
    env = raw_env(**{"button": 0, "deck": DECK, **options})
    env.reset(seed=0)
    for letter in actions.replace(" ", ""):
        env.step(LETTERS[letter])
    return env


def told_of(picture: str, player: str) -> str:
    """Returns the texts about a player."""
    (told,) = [part for part in described(picture) if part.startswith(player)]
    return told


def test_a_seat_sees_its_own_cards_and_backs_a_spectator_all() -> None:
    env = after("c")
    assert told_of(env.draw("player_0"), "player_0") == "player_0 (you): Ah Kd, 98, call, button, has put in 2"
    assert "Qc" not in env.draw("player_0")
    assert "Ah" not in env.draw("player_1")
    assert told_of(env.draw("player_1"), "player_1") == "player_1 (you): Qc Qs, 98, to move, has put in 2"
    assert [told_of(env.draw(), f"player_{seat}") for seat in (0, 1)] == [
        "player_0: Ah Kd, 98, call, button, has put in 2",
        "player_1: Qc Qs, 98, to move, has put in 2",
    ]


def test_showdown_is_shown_to_all_and_other_hands_are_not() -> None:
    showdown = after("cc cc cc cc")
    assert told_of(showdown.draw("player_0"), "player_1") == "player_1: Qc Qs, 102, +2"
    folded = after("hf")
    assert told_of(folded.draw("player_1"), "player_0") == "player_0: 102, +2, button"
    assert "Ah" not in folded.draw("player_1")


def test_forfeited_match_has_no_player_to_act() -> None:
    env = after("c")
    env.step(None)
    assert told_of(env.draw("player_0"), "player_1") == "player_1: 98, forfeits, has put in 2"
    for agent in (None, "player_0", "player_1"):
        assert "to move" not in env.draw(agent) and replies(env.draw(agent)) == []


def test_previous_hand_is_drawn_with_shown_cards() -> None:
    env = after("cc cc cc cc", hands=2, deck=None, deck_seed=3)
    result = env.game.results[0]
    expected = [f"before: {net:+d} ({card_names(hole)})" for net, hole in zip(result.net, result.shown, strict=True)]
    assert sorted(text for text in texts(env.draw("player_0")) if text.startswith("before:")) == sorted(expected)


def test_legal_actions_are_clickable_with_their_cost() -> None:
    env = after("h")  # 3 of 100 chips: the big blind has 2 to call
    assert replies(env.draw("player_1")) == [
        "Action: Fold",
        "Action: Check and Call",
        "Action: Raise Half Pot",
        "Action: Raise Full Pot",
        "Action: All-In",
    ]
    assert f"puts in {env.game.choices.costs[1]}" in texts(env.draw("player_1"))
    assert replies(env.draw("player_0")) == replies(env.draw()) == []


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(("players", "rules"), [*product(range(2, 7), ["standard"]), (2, "rlcard")])
def test_player_to_act_is_shown_to_all(players: int, rules: str) -> None:
    env = raw_env(players=players, rules=rules, hands=3)
    rng = np.random.default_rng(players)
    for seed in range(3):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            for picture in (env.draw(), *(env.draw(agent) for agent in env.possible_agents)):
                acting = [part.split(":")[0].removesuffix(" (you)") for part in described(picture) if "to move" in part]
                assert acting == [env.agent_selection]
                assert texts_outside(picture) == []
            legal = [
                action for action in env.view(env.agent_selection).legal if action != LETTERS["a"] or rng.random() < 0.2
            ]
            env.step(int(rng.choice(legal or [1])))
        assert not any("to move" in part for agent in env.possible_agents for part in described(env.draw(agent)))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_longest_texts_have_room(language: str) -> None:
    env = raw_env(players=6, hands=1000, stack=1_000_000, big_blind=2, language=language)
    env.reset(seed=1)
    while not env.game.results:
        env.step(int(env.view(env.agent_selection).legal[-1]))
    for picture in (env.draw(), env.draw("player_3")):
        assert texts_outside(picture) == []
        assert not any("…" in text for text in texts(picture))


def test_single_decision_leaves_no_player_to_act() -> None:
    env = raw_env(decision="open")
    env.reset(seed=0)
    env.step(1)
    assert not any("to move" in text for agent in (None, "player_0", "player_1") for text in texts(env.draw(agent)))
