"""Games with known decks."""

import numpy as np

from llmarena_envs.hanabi.game import Hanabi
from llmarena_envs.hanabi.variant import Variant

DECK = "R1 R2 Y1 Y2 R3 R1 Y3 Y1 R4 Y4 R5 Y5 R1 Y1 R2 Y2 R3 Y3 R4 Y4"
"""player_0 holds Red 1, Red 2; player_1 Yellow 1, Yellow 2; then come Red 3, Red 1, Yellow 3, ..."""

FULL = {"colors": 5, "hand_size": 5, "info_tokens": 8, "life_tokens": 3}

DISCARD_1, DISCARD_2, PLAY_1, PLAY_2, RED, YELLOW, RANK_1, RANK_2, RANK_3, RANK_4, RANK_5 = range(11)
"""The actions of the small game, positions counted from 1."""


def small_game(*actions, deck=DECK, **options):
    """Returns the small game with a known deck after some legal actions."""
    game = Hanabi(Variant(**options), deck=deck)
    game.reset(np.random.default_rng(0))
    play(game, *actions)
    return game


def play(game, *actions):
    for action in actions:
        assert game.why_illegal(game.to_move[0], action) is None
        assert action in game.view(game.to_move[0]).legal
        game.apply((action,))


def codes(cards):
    return " ".join(card.code for card in cards)


def random_game(variant, rng, choose=None):
    """Yields a game at every position of a random match, the last one included."""
    game = Hanabi(variant)
    game.reset(rng)
    while game.to_move:
        yield game
        legal = choose(game) if choose else game.legal
        game.apply((legal[int(rng.integers(len(legal)))],))
    yield game
