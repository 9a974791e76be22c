"""Pictures of Undercover."""

import pytest

from llmarena_envs import undercover_v0
from tests.support.pictures import height, shown, texts_outside

PAIR = ["zyxqua", "vubnor"]


def table(turns, **options):
    """Plays some turns: clues ``clue 0``, ``clue 1`` and so on, and all vote for ``player_1``, who votes for ``player_0``."""
    env = undercover_v0.raw_env(**{"pair": PAIR, "seat": "last", "first_player": 0, "swap_words": False, **options})
    env.reset(seed=0)
    for turn in range(turns):
        agent = env.agent_selection
        votes = f"vote: player_{0 if agent == 'player_1' else 1}"
        env.step(f"{agent}: clue {turn}" if env.game.stage == "clue" else votes)
    return env


def test_a_player_sees_its_own_word_and_no_side():
    env = table(10)
    assert env.game.undercovers == ("player_4",)
    for agent, own, other in (("player_0", *PAIR), ("player_4", *PAIR[::-1])):
        text = shown(env.draw(agent))
        assert own in text and other not in text
        assert "clue 3" in text and "votes for player_1" in text and "out in round 1" in text
        assert "undercover" not in text and "ordinary" not in text


def test_a_spectator_sees_all_words_and_sides():
    text = shown(table(3).draw())
    assert "player_4 vubnor (undercover)" in text and "player_0 zyxqua (ordinary)" in text


def test_votes_are_shown_once_all_are_cast():
    env = table(9)
    assert "votes for" not in shown(env.draw()) + shown(env.draw("player_0"))


@pytest.mark.slow
def test_ten_players_with_long_clues_find_room():
    env = undercover_v0.raw_env(
        n_players=10, max_rounds=9, pair=["中" * 30, "文" * 30], clue_check=False, language="zh"
    )
    env.reset(seed=3)
    while not env.terminations[env.agent_selection]:
        agent = env.agent_selection
        said = (
            f"{agent}: {'<b>&' * 120}"
            if env.game.stage == "clue"
            else env.format(env.random_action(agent, env.np_random), agent)
        )
        env.step(said)
        for seat in (None, "player_9"):
            picture = env.draw(seat)
            assert height(picture) <= 1200 and len(picture) < 150_000 and "<b>" not in picture
            assert not texts_outside(picture)
