"""Pictures of Hanabi: the own cards stay hidden, hints are seen, and every legal action can be pointed at."""

from typing import Any

import numpy as np
import pytest

from llmarena_envs.hanabi.env import raw_env
from tests.llmarena_envs.hanabi.positions import DECK, FULL, PLAY_1, RANK_1
from tests.support.pictures import described, replies, texts, texts_outside


def after(*actions: int | None, **options: Any) -> raw_env:
    env = raw_env(**{"deck": DECK, **options})
    env.reset(seed=0)
    for action in actions:
        env.step(action)
    return env


def test_a_player_sees_hints_on_its_own_cards_and_the_others_cards() -> None:
    env = after(RANK_1)  # player_0 tells player_1, who holds Yellow 1 and Yellow 2
    assert described(env.draw("player_1"))[5:] == [
        "player_1 (you) · to move: RY1, RY2345",
        "player_0: Red 1 (RY12345), Red 2 (RY12345)",
        "player_0: Reveal rank 1 (marks card 1)",
    ]
    assert described(env.draw())[5:] == [
        "player_0: Red 1 (RY12345), Red 2 (RY12345)",
        "player_1 · to move: Yellow 1 (RY1), Yellow 2 (RY2345)",
        "player_0: Reveal rank 1 (marks card 1)",
    ]
    assert "player_1 (you) · to move" in texts(env.draw("player_1"))


def test_fireworks_tokens_and_score() -> None:
    env = after(PLAY_1, PLAY_1)  # Red 1, Yellow 1
    assert described(env.draw("player_0"))[:5] == [
        "Fireworks: Red 1, Yellow 1",
        "Information: 3",
        "Lives: 1",
        "Cards in the deck: 14",
        "Score: 2 of 10",
    ]


def test_points_are_lost_with_the_last_life() -> None:
    env = after(PLAY_1, PLAY_1, PLAY_1 + 1)  # the third card played is Red 3 on Red 1
    for agent in (None, "player_0", "player_1"):
        assert {"Lives: 0", "Score: 0 of 10"} <= set(described(env.draw(agent)))
        assert not any("to move" in text for text in texts(env.draw(agent)))
        assert replies(env.draw(agent)) == []


@pytest.mark.parametrize(("bomb_score", "score"), [("zero", 0), ("keep", 2)])
def test_forfeit_leaves_no_player_to_move_and_same_score_for_all(bomb_score: str, score: int) -> None:
    env = after(PLAY_1, PLAY_1, None, bomb_score=bomb_score)
    for agent in (None, "player_0", "player_1"):
        assert f"Score: {score} of 10" in described(env.draw(agent))
        assert "to move" not in env.draw(agent)
        assert ("forfeits" in env.draw(agent)) == (agent is not None)


def test_screen_readers_get_discards_and_last_action() -> None:
    told = described(after(PLAY_1, PLAY_1, PLAY_1 + 1).draw("player_0"))
    assert told[-2:] == ["Discarded: Red 3", "player_0: Play card 2 (Red 3, does not fit, a life token is lost)"]


@pytest.mark.slow
@pytest.mark.parametrize(("players", "language"), [(2, "zh"), (3, "en"), (5, "en")])
def test_legal_actions_are_clickable_and_mover_is_shown_to_all(players: int, language: str) -> None:
    options = {**FULL, "hand_size": 5 if players < 4 else 4}
    env = raw_env(players=players, language=language, **options)
    env.reset(seed=players)
    rng = np.random.default_rng(0)
    to_move = {"en": "to move", "zh": "行动中"}[language]
    while not any(env.terminations.values()):
        mover = env.agent_selection
        legal = env.view(mover).legal
        assert sorted(replies(env.draw(mover))) == sorted(env.format(action, mover) for action in legal)
        for agent in (None, *env.possible_agents):
            picture = env.draw(agent)
            assert [text.startswith(mover) for text in texts(picture) if to_move in text] == [True]
            assert texts_outside(picture) == []
            assert agent == mover or replies(picture) == []
        # Hints and discards first, to get many cards on the table.
        safe = [action for action in legal if not 5 <= action < 10]
        env.step(int(rng.choice(safe or legal)))


def test_the_reader_never_sees_its_own_card_before_it_is_played() -> None:
    env = after(RANK_1, PLAY_1)
    assert "Yellow 2" not in env.draw("player_1")
    assert "Yellow 2" in env.draw("player_0")
