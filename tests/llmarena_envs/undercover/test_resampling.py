"""Resampling of the sides and words that are hidden from a player."""

import copy
from itertools import combinations

import numpy as np
import pytest

from llmarena_envs.undercover.game import Clue, Undercover, Vote
from llmarena_envs.undercover.words import WordPair, contains_word
from tests.llmarena_envs.draws import check_frequencies, redrawn

PAIRS = (WordPair("fruit", "plum", "cherry"), WordPair("fruit", "pear", "apple"), WordPair("tool", "saw", "axe"))
FIXED = {"pairs": PAIRS[:1], "seat": "last", "swap_words": False, "first_player": 0}


def started(seed=0, **options):
    """The last player is undercover with the word cherry, and the first one begins, regardless of the players' guesses."""
    game = Undercover(**{**FIXED, **options})
    game.reset(np.random.default_rng(seed))
    return game


def speak(game, **clues):
    while game.stage == "clue":
        (agent,) = game.to_move
        game.apply((Clue(clues.get(agent, f"clue of {agent}")),))


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("agent", ["player_0", "player_4"])
def test_resampled_undercover_roles_are_uniform(agent):
    drawn = redrawn(started(), agent, lambda other: other.undercovers)
    check_frequencies(drawn, {(f"player_{number}",): 1 for number in range(5)})


@pytest.mark.slow
def test_all_groups_are_equally_likely():
    game = started(n_players=6, n_undercover=2)
    drawn = redrawn(game, "player_0", lambda other: other.undercovers)
    check_frequencies(drawn, dict.fromkeys(combinations(game.agents, 2), 1))


@pytest.mark.slow
def test_the_other_word_is_of_the_same_kind():
    words = redrawn(
        started(pairs=PAIRS, seed=1), "player_0", lambda other: {*other.words}.difference([other.words[0]]).pop()
    )
    own = started(pairs=PAIRS, seed=1).words[0]
    assert own == "pear"
    check_frequencies(words, {"plum": 1, "cherry": 1, "apple": 1})


def test_single_pair_list_does_not_reveal_the_other_word():
    words = redrawn(started(), "player_0", lambda other: {*other.words} - {"plum"} == {"cherry"})
    check_frequencies(words, {True: 1, False: 1})


def test_words_and_sides_and_pair_belong_together():
    rng = np.random.default_rng(2)
    for seed in range(30):
        game = started(seed, pairs=PAIRS, seat="random", swap_words=True, n_players=6, n_undercover=2)
        other = copy.copy(game)
        other.resample("player_1", rng)
        hidden = {word for agent, word in zip(other.agents, other.words, strict=True) if agent in other.undercovers}
        plain = {word for agent, word in zip(other.agents, other.words, strict=True) if agent not in other.undercovers}
        assert (len(hidden), len(plain), len(hidden | plain)) == (1, 1, 2)
        if other.pair >= 0:
            pair = other.pairs[other.pair]
            assert hidden == {pair.a if other.swapped else pair.b}


@pytest.mark.slow
def test_player_who_said_the_own_word_holds_another():
    game = started()
    speak(game, player_4="like a plum")  # which is legal for who holds cherry
    drawn = redrawn(game, "player_0", lambda other: other.undercovers)
    # player_4 is on the other side than player_0: one of the two is undercover.
    check_frequencies(drawn, {("player_0",): 1, ("player_4",): 1})
    assert set(redrawn(game, "player_4", lambda other: other.undercovers)) == {
        (f"player_{number}",) for number in range(5)
    }


def test_resampled_word_was_in_no_clue():
    game = started(pairs=PAIRS)
    game.words = ("plum", "plum", "plum", "plum", "pear")
    speak(game, player_1="an apple", player_4="a cherry")
    rng = np.random.default_rng(0)
    for _ in range(200):
        other = copy.copy(game)
        other.resample("player_0", rng)
        for message in other.pool:
            assert not contains_word(message.text, other.word(message.sender))


@pytest.mark.slow
def test_votes_reveal_who_is_not_undercover():
    game = started(n_players=5, max_rounds=3)
    speak(game)
    game.apply(tuple(Vote("player_1" if agent != "player_1" else "player_0") for agent in game.living))
    assert game.to_move
    drawn = redrawn(game, "player_0", lambda other: other.undercovers)  # player_1 is out, and the match continues
    check_frequencies(drawn, {(f"player_{number}",): 1 for number in (0, 2, 3, 4)})


@pytest.mark.slow
def test_lots_of_votes_to_come_are_drawn_anew():
    game = started(n_players=4, max_rounds=1)
    speak(game)
    votes = tuple(Vote(target) for target in ("player_1", "player_0", "player_0", "player_1"))

    def eliminated(other):
        other.apply(votes)
        return other.results[0].eliminated

    check_frequencies(redrawn(game, "player_2", eliminated), {"player_0": 1, "player_1": 1})


def test_final_statistics_agree_after_resampling():
    rng = np.random.default_rng(0)
    for seed in range(20):
        game = started(seed, pairs=PAIRS, seat="random", swap_words=True, max_rounds=3, ask_guess=True)
        while game.to_move:
            game.apply(tuple(game.random_action(agent, rng) for agent in game.to_move))
        for agent in game.agents:
            other = copy.copy(game)
            other.resample(agent, rng)
            assert other.statistics(agent) == game.statistics(agent)
            assert other.winner == game.winner
            assert [other.rewards[seat] > 0 for seat in range(5)] == [
                (each in other.undercovers) == (other.winner == "undercover") for each in other.agents
            ]
