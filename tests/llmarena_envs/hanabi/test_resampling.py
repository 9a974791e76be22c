"""Resampling of a player's own cards, consistent with the hints."""

import copy
from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from llmarena_envs.hanabi.cards import full_deck
from llmarena_envs.hanabi.game import Hanabi
from llmarena_envs.hanabi.variant import Variant
from tests.llmarena_envs.draws import check_frequencies, redrawn
from tests.llmarena_envs.hanabi.positions import (
    DISCARD_1,
    FULL,
    PLAY_1,
    RANK_1,
    RANK_2,
    RED,
    codes,
    play,
    random_game,
    small_game,
)

VARIANTS = [
    (Variant(life_tokens=3), 6),
    (Variant(**FULL), 2),
    (Variant(players=4, colors=3, ranks=3, hand_size=3, info_tokens=5, life_tokens=3), 4),
]


def possible_hands(game, seat):
    """Counts by enumeration how many ways the unseen cards make up each hand consistent with the hints."""
    cards = full_deck(game.variant.colors, game.variant.ranks)
    seen = Counter(card for other, hand in enumerate(game.hands) if other != seat for card in hand)
    seen += Counter(game.discards) + Counter(card for card in set(cards) if card.rank <= game.fireworks[card.color])
    unseen = [*(Counter(cards) - seen).elements()]
    assert len(unseen) == game.deck_size + len(game.hands[seat])
    known = game.knowledge[seat]
    return Counter(
        hand
        for hand in permutations(unseen, len(known))
        if all(card.color in told.colors and card.rank in told.ranks for card, told in zip(hand, known, strict=True))
    )


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("actions", "agent"),
    [
        ((), "player_0"),
        ((), "player_1"),
        ((RANK_2,), "player_1"),
        ((RANK_1, RANK_1), "player_1"),
        ((RANK_1, RED), "player_0"),
        ((RANK_1, RED, PLAY_1, RANK_2), "player_0"),
        ((RANK_1, RED, DISCARD_1, DISCARD_1), "player_1"),
    ],
)
def test_resampled_hands_follow_the_exact_distribution(actions, agent):
    game = small_game(*actions, life_tokens=3)
    seat = game.agents.index(agent)
    check_frequencies(redrawn(game, agent, lambda other: other.hands[seat]), possible_hands(game, seat))


@pytest.mark.slow
def test_hints_that_leave_few_cards_are_dealt_evenly_too():
    # A hint says rank 1 of the whole hand: each of the six unseen ones is equally likely in each position.
    deck = "R1 R1 Y1 R2 R3 R4 R1 Y1 Y1 Y2 Y3 Y4 Y5 R5 R2 R3 R4 Y2 Y3 Y4"
    game = Hanabi(Variant(hand_size=3), deck=deck)
    game.reset(np.random.default_rng(0))
    red, rank_1 = 6, 8
    play(game, red, rank_1)
    assert [told.ranks for told in game.knowledge[0]] == [(1,)] * 3
    check_frequencies(redrawn(game, "player_0", lambda other: other.hands[0]), possible_hands(game, 0))


@pytest.mark.slow
def test_the_deck_is_shuffled():
    game = small_game()
    drawn = redrawn(game, "player_0", lambda other: other.deck[-1])
    check_frequencies(drawn, Counter([*game.hands[0], *game.deck[game.dealt :]]))


@pytest.mark.parametrize(("variant", "matches"), VARIANTS, ids=str)
def test_the_same_actions_lead_to_the_redrawn_position(variant, matches):
    rng = np.random.default_rng(4)
    for _ in range(matches):
        for game in random_game(variant, rng):
            agent = game.agents[int(rng.integers(len(game.agents)))]
            other = copy.copy(game)
            other.resample(agent, rng)
            replayed = Hanabi(variant, deck=codes(other.deck))
            replayed.reset(rng)
            for event in other.history:
                replayed.apply((event.action,))
            assert {**replayed.__dict__, "_fixed_deck": None} == {**other.__dict__, "_fixed_deck": None}
