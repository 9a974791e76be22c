"""Cards that a player has not seen, dealt anew."""

import copy
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from llmarena_envs.holdem.cards import CARD_NAMES, parse_cards
from llmarena_envs.holdem.game import Holdem
from llmarena_envs.holdem.ranks import hand_rank
from tests.llmarena_envs.draws import check_frequencies, redrawn
from tests.llmarena_envs.holdem.table import play, table
from tests.llmarena_envs.holdem.test_against_universal_poker import universal_poker

PACK = range(52)
DECK = "Ah Kd As Kc 2c 7d 9h 4s Jc"


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("actions", "options"), [("", {"deck": DECK}), ("cc", {"deck": DECK}), ("cc cc cc", {"deck_seed": 4})]
)
def test_every_unseen_card_is_as_likely_in_the_other_hand(actions, options):
    game = table(actions, **options)
    unseen = dict.fromkeys(set(PACK) - {*game.hole(0), *game.board}, 1)
    for place in range(2):
        check_frequencies(
            redrawn(game, "player_0", lambda other, place=place: other.hole(1)[place], seed=place), unseen
        )


def test_every_pair_comes_as_often_as_it_can_be_dealt():
    # With an ace in hand there are three pairs of aces, and six of any other rank.
    game = table(deck=DECK)
    hands = redrawn(game, "player_0", lambda other: other.hole(1))
    pairs: Counter[int] = Counter()
    for (one, two), count in hands.items():
        pairs[one // 4 if one // 4 == two // 4 else -1] += count
    aces, kings = 12, 11
    assert [CARD_NAMES[card][0] for card in game.hole(0)] == ["A", "K"]
    weights = {rank: 3 if rank in (aces, kings) else 6 for rank in range(13)}
    check_frequencies(pairs, {**weights, -1: 50 * 49 // 2 - sum(weights.values())})


def test_the_next_card_of_the_board_is_redrawn():
    game = table("cc", deck=DECK)
    unseen = set(PACK) - {*game.hole(0), *game.board}
    turn = redrawn(game, "player_0", lambda other: play(other, "cc").board[3])
    check_frequencies(turn, dict.fromkeys(unseen, 1))


@pytest.mark.slow
@pytest.mark.needs("pyspiel")
def test_open_spiel_thinks_the_same_hands_possible():
    game = table(deck=DECK, button=1)
    state = universal_poker(100, 1, 2).new_initial_state()
    for card in parse_cards(DECK)[:4]:
        state.apply_action(card)
    rng = np.random.RandomState(0)
    theirs = set()
    for _ in range(200):
        text = str(state.resample_from_infostate(0, rng.rand))
        line = next(line for line in text.splitlines() if line.startswith("P1 Cards: "))
        theirs |= set(parse_cards(line.removeprefix("P1 Cards: ")))
    ours = {card for hand in redrawn(game, "player_0", lambda other: other.hole(1)) for card in hand}
    assert ours == theirs == set(PACK) - set(game.hole(0))


def test_shown_cards_and_own_cards_of_earlier_hands_stay():
    game = table(players=3, hands=3, stack=50)
    play(game, "fcc cc cc cc")  # a showdown of two
    play(game, "ff")  # no showdown
    shown = game.results[0].shown
    assert [bool(hole) for hole in shown] == [False, True, True]
    rng = np.random.default_rng(0)
    changed = Counter()
    for _ in range(50):
        other = copy.copy(game)
        other.resample("player_0", rng)
        for hand, (deck, before) in enumerate(zip(other._decks, game._decks, strict=True)):
            assert len(set(deck)) == len(deck) == len(before)
            for seat in range(3):
                changed[hand, seat] += deck[2 * seat : 2 * seat + 2] != before[2 * seat : 2 * seat + 2]
        assert other._decks[0][6:11] == game.results[0].board
        assert other.results == game.results
    assert {place for place, count in changed.items() if not count} == {(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)}


def test_future_cards_are_resampled_with_a_fixed_seed_too():
    games = [Holdem(deck_seed=1, hands=2, button=0) for _ in range(2)]
    for seed, game in enumerate(games):
        game.reset(np.random.default_rng(0))
        game.resample("player_1", np.random.default_rng(seed))
        play(game, "f")
    assert games[0].hole(1) != games[1].hole(1)


@pytest.mark.slow
def test_a_redrawn_showdown_is_won_as_often_as_it_can_be():
    game = table("cc cc cc", deck=DECK)
    own, board = game.hole(0), game.board
    rank = hand_rank(own + board)  # the best is 1
    others = [hand_rank(hole + board) for hole in combinations(set(PACK) - {*own, *board}, 2)]
    weights = {2.0: sum(rank < other for other in others), -2.0: sum(rank > other for other in others)}
    drawn = redrawn(game, "player_0", lambda other: play(other, "cc").rewards[0])
    check_frequencies(drawn, {**weights, 0.0: len(others) - sum(weights.values())})
