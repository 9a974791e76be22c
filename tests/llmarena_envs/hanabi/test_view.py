"""A player's knowledge: all hints, and nothing of the own cards and the deck."""

import numpy as np

from llmarena_envs.hanabi.game import Event
from llmarena_envs.hanabi.variant import Variant
from tests.llmarena_envs.hanabi.positions import DISCARD_1, FULL, PLAY_1, RANK_2, YELLOW, play, random_game, small_game

VARIANTS = [Variant(), Variant(**FULL), Variant(players=4, colors=5, hand_size=4, info_tokens=8, life_tokens=3)]


def test_hands_and_knowledge_are_in_playing_order():
    game = next(random_game(VARIANTS[2], np.random.default_rng(0)))
    play(game, next(number for number in game.legal if number >= 8))
    for seat, agent in enumerate(game.agents):
        view = game.view(agent)
        order = [(seat + offset) % 4 for offset in range(4)]
        assert view.hands == tuple(game.hands[other] for other in order[1:])
        assert view.knowledge == tuple(game.knowledge[other] for other in order)


def test_hints_are_never_forgotten():
    game = small_game(RANK_2, RANK_2, YELLOW, DISCARD_1)
    kept = game.view("player_1").knowledge[0][0]
    assert (kept.colors, kept.ranks, kept.color_told, kept.rank_told) == ((1,), (2,), True, True)
    play(game, PLAY_1)
    assert game.view("player_1").knowledge[0][0] == kept
    history = game.view("player_1").history
    assert history[0] == Event(0, RANK_2, None, False, (1,))
    assert history[2] == Event(0, YELLOW, None, False, (0, 1))


def test_the_history_only_grows():
    before = ()
    for game in random_game(Variant(**FULL), np.random.default_rng(8)):
        history = game.view("player_0").history
        assert history == game.view("player_1").history
        assert history[:-1] == before
        before = history
