"""A player's knowledge: all hints, and nothing of the own cards and the deck."""

import copy

import numpy as np
import pytest

from llmarena_envs.hanabi.game import Event
from llmarena_envs.hanabi.text import HanabiCodec
from llmarena_envs.hanabi.variant import Variant
from llmarena_envs.hanabi.vector import VectorEncoder
from tests.llmarena_envs.hanabi.positions import (
    DISCARD_1,
    FULL,
    PLAY_1,
    RANK_2,
    RED,
    YELLOW,
    codes,
    play,
    random_game,
    small_game,
)

VARIANTS = [Variant(), Variant(**FULL), Variant(players=4, colors=5, hand_size=4, info_tokens=8, life_tokens=3)]


@pytest.mark.parametrize(("variant", "matches"), [*zip(VARIANTS, (60, 5, 3), strict=True)], ids=str)
def test_own_cards_and_deck_do_not_affect_a_players_view(variant, matches):
    codec, encoder = HanabiCodec(variant, "en", hint=True, cot=True), VectorEncoder(variant)
    rng = np.random.default_rng(3)
    changed = 0
    for _ in range(matches):
        for game in random_game(variant, rng):
            for agent in game.agents:
                other = copy.copy(game)
                other.resample(agent, rng)
                changed += other.hands != game.hands
                view, other_view = game.view(agent), other.view(agent)
                assert other_view == view
                assert codec.observation(other_view) == codec.observation(view)
                assert np.array_equal(encoder.encode(other_view), encoder.encode(view))
    assert changed > 100


def test_the_view_of_each_player():
    game = small_game(RANK_2, RED, PLAY_1)
    mine, theirs = game.view("player_0"), game.view("player_1")
    assert [codes(hand) for hand in mine.hands] == ["Y1 Y2"]
    assert [codes(hand) for hand in theirs.hands] == ["R2 R3"]
    assert mine.knowledge == theirs.knowledge[::-1] == game.knowledge
    assert (mine.to_move, mine.legal) == (False, ())
    assert (theirs.to_move, theirs.legal) == (True, game.legal)
    assert (mine.seat, theirs.seat) == (0, 1)
    for view in (mine, theirs):
        assert (view.fireworks, view.info_tokens, view.life_tokens, view.deck_size, view.turns_left) == (
            (1, 0),
            1,
            1,
            15,
            2,
        )
        assert view.discards == ()
        assert view.variant == game.variant
        assert [event.action for event in view.history] == [RANK_2, RED, PLAY_1]


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
