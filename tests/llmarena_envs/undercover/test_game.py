from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.options import OptionError
from llmarena_envs.undercover.game import Clue, Undercover, Vote, most_voted
from llmarena_envs.undercover.words import WordPair, shipped_pairs

PAIRS = (WordPair("", "plum", "cherry"),)


def new_game(seed=0, pairs=PAIRS, **options):
    game = Undercover(pairs, **options)
    game.reset(np.random.default_rng(seed))
    return game


def fixed_game(**options):
    """The last player is undercover with the word cherry, the first one begins."""
    return new_game(**{"seat": "last", "first_player": 0, "swap_words": False, **options})


def speak(game):
    """Plays the clue stage with clues of a different letter for every player."""
    while game.stage == "clue" and game.to_move:
        (agent,) = game.to_move
        game.apply((Clue(f"clue {agent} {game.round}"),))


def vote(game, *numbers):
    game.apply(tuple(Vote(f"player_{number}") for number in numbers))


def random_votes(game, rng):
    return tuple(game.random_action(agent, rng) for agent in game.to_move)


def test_players_speak_in_seat_order_and_vote_together():
    game = new_game(first_player=3)
    order = []
    for _ in range(5):
        order += game.to_move
        assert game.stage == "clue"
        game.apply((Clue(f"clue {len(order)}"),))
    assert order == ["player_3", "player_4", "player_0", "player_1", "player_2"]
    assert (game.stage, game.to_move) == ("vote", game.agents)
    vote(game, 4, 4, 4, 4, 3)
    assert (game.round, game.stage, game.to_move) == (2, "clue", ("player_3",))
    assert game.waiting == ("player_3", "player_0", "player_1", "player_2")


def test_the_first_player_of_later_rounds_is_the_next_one_alive():
    game = fixed_game(first_player=3)
    speak(game)
    vote(game, 3, 3, 3, 0, 3)
    assert game.waiting == ("player_4", "player_0", "player_1", "player_2")


def test_undetected_undercover_wins_after_two_rounds():
    game = fixed_game()
    speak(game)
    vote(game, 1, 0, 0, 0, 0)
    assert game.rewards == (0, 0, 0, 0, 0)
    assert game.living == ("player_1", "player_2", "player_3", "player_4")
    speak(game)
    assert game.to_move == game.living
    vote(game, 2, 1, 1, 1)
    assert game.to_move == ()
    assert game.rewards == (-1, -1, -1, -1, 1)


def test_eliminated_players_share_the_victory():
    game = fixed_game()
    speak(game)
    vote(game, 1, 0, 0, 0, 0)
    speak(game)
    vote(game, 4, 4, 4, 1)
    assert game.rewards == (1, 1, 1, 1, -1)


def test_a_single_undercover_player_has_no_advantage_from_parity():
    game = fixed_game(n_players=3, max_rounds=2)
    speak(game)
    vote(game, 1, 0, 0)
    assert game.living == ("player_1", "player_2")
    assert game.to_move == ("player_1",)
    speak(game)
    vote(game, 2, 1)
    assert sorted(game.rewards) in ([-1, -1, 1], [-1, 1, 1])


def test_all_undercover_players_must_be_found():
    game = fixed_game(n_players=6, n_undercover=2, max_rounds=3)
    assert game.undercovers == ("player_4", "player_5")
    for target in (5, 0, 4):
        speak(game)
        vote(game, *[target if agent != f"player_{target}" else 1 for agent in game.living])
    assert game.rewards == (1, 1, 1, 1, -1, -1)


def test_undercover_side_wins_once_it_cannot_be_found():
    game = fixed_game(n_players=6, n_undercover=2, max_rounds=3)
    for target in (0, 1):
        speak(game)
        assert game.to_move
        vote(game, *[target if agent != f"player_{target}" else 2 for agent in game.living])
    assert game.round == 2
    assert game.rewards == (-1, -1, -1, -1, 1, 1)


@pytest.mark.slow
def test_ties_are_drawn_evenly_from_the_seed():
    eliminated = Counter()
    for seed in range(600):
        game = fixed_game(seed=seed)
        speak(game)
        vote(game, 1, 0, 1, 2, 0)
        eliminated[game.results[0].eliminated] += 1
        again = fixed_game(seed=seed)
        speak(again)
        vote(again, 1, 0, 1, 2, 0)
        assert again.results == game.results
    assert set(eliminated) == {"player_0", "player_1"}
    assert 240 < eliminated["player_0"] < 360


def test_random_votes_let_undercover_survive_in_60_percent():
    survival = Fraction(1)
    for size in (5, 4):
        players = [f"player_{number}" for number in range(size)]
        ballots = [[other for other in players if other != voter] for voter in players]
        eliminated = Counter()
        for votes in product(*ballots):
            candidates = most_voted(votes)
            for candidate in candidates:
                eliminated[candidate] += Fraction(1, len(candidates))
        total = sum(eliminated.values())
        assert {count / total for count in eliminated.values()} == {Fraction(1, size)}
        survival *= 1 - eliminated[players[-1]] / total
    assert survival == Fraction(3, 5)


@pytest.mark.slow
def test_simulated_random_votes():
    rng = np.random.default_rng(1)
    wins = 0
    for seed in range(3000):
        game = new_game(seed=seed)
        while game.to_move:
            speak(game)
            game.apply(random_votes(game, rng))
        wins += game.rewards[game.agents.index(game.undercovers[0])] > 0
    assert 0.57 < wins / 3000 < 0.63


def test_draws_are_uniform_and_recorded():
    pairs = shipped_pairs("en")[:4]
    seats, sides, first, drawn = Counter(), Counter(), Counter(), Counter()
    for seed in range(1000):
        game = new_game(seed=seed, pairs=pairs)
        undercover = game.undercovers[0]
        _, a, b = pairs[game.pair]
        words = (a, b) if game.swapped else (b, a)
        assert [game.word(agent) for agent in game.agents] == [words[agent != undercover] for agent in game.agents]
        seats[undercover] += 1
        sides[game.swapped] += 1
        first[game.to_move[0]] += 1
        drawn[game.pair] += 1
    assert len(seats) == len(first) == 5
    assert min(seats.values()) > 150
    assert min(first.values()) > 150
    assert min(sides.values()) > 440
    assert min(drawn.values()) > 200


@pytest.mark.parametrize(
    "options", [{"seat": "last"}, {"seat": 2}, {"first_player": 4}, {"swap_words": False}, {"ask_guess": True}]
)
def test_the_same_seed_draws_the_same_under_other_options(options):
    for seed in range(20):
        plain, other = new_game(seed, shipped_pairs("en")), new_game(seed, shipped_pairs("en"), **options)
        assert plain.pair == other.pair
        assert plain._lots == other._lots
        assert "seat" in options or plain.undercovers == other.undercovers
        assert "first_player" in options or plain.to_move == other.to_move
        assert "swap_words" in options or plain.swapped == other.swapped


def test_fixed_seats():
    assert new_game(seat="last").undercovers == ("player_4",)
    assert new_game(seat=2).undercovers == ("player_2",)
    assert new_game(seat="last", n_undercover=2).undercovers == ("player_3", "player_4")
    assert new_game(swap_words=False).word(new_game().undercovers[0]) == "cherry"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_players": 2}, "n_players: expected an integer from 3 to 10, got 2"),
        ({"n_players": 11}, "n_players"),
        ({"n_players": True}, "n_players"),
        ({"n_undercover": 3}, "n_undercover: expected an integer from 1 to 2"),
        ({"n_undercover": 0}, "n_undercover"),
        ({"max_rounds": 0}, "max_rounds: expected an integer from 1 to 4"),
        ({"max_rounds": 5}, "max_rounds"),
        ({"n_undercover": 2, "max_rounds": 1}, "max_rounds: expected an integer from 2 to 4"),
        ({"seat": "lst"}, "did you mean 'last'"),
        ({"seat": 5}, "seat: expected an integer from 0 to 4"),
        ({"seat": 1, "n_undercover": 2}, "seat: expected 'random' or 'last'"),
        ({"first_player": "last"}, "first_player"),
        ({"first_player": -1}, "first_player"),
        ({"swap_words": 1}, "swap_words"),
        ({"clue_check": None}, "clue_check"),
        ({"ask_guess": "yes"}, "ask_guess"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(OptionError, match=message):
        Undercover(PAIRS, **options)


@pytest.mark.slow_except(3)
@pytest.mark.parametrize("n_players", range(3, 11))
def test_the_bound_on_turns_is_met_exactly_by_the_longest_match(n_players):
    rng = np.random.default_rng(n_players)
    for max_rounds in range(1, n_players):
        longest = 0
        for seed in range(10):
            game = new_game(seed, n_players=n_players, max_rounds=max_rounds, seat=0)
            turns = 0
            while game.to_move:
                turns += len(game.to_move)
                targets = [game.random_action(agent, rng) for agent in game.to_move]
                if game.stage == "vote":
                    spared = [
                        Vote(game.living[1 + (game.living[1] == agent)] if len(game.living) > 2 else other.target)
                        for agent, other in zip(game.to_move, targets, strict=True)
                    ]
                    targets = spared
                game.apply(tuple(targets))
            longest = max(longest, turns)
        assert longest == game.max_turns == sum(2 * (n_players - played) for played in range(max_rounds))


def test_illegal_clues():
    game = fixed_game()
    game.apply((Clue("A small RED fruit."),))
    why = game.why_illegal
    assert why("player_1", Clue("like a Plum, but different")) == Reason("secret_word")
    assert why("player_1", Clue("a small red fruit!!")) == Reason("repeated", {"player": "player_0"})
    assert why("player_1", Clue("a" * 501)) == Reason("long_clue", {"limit": 500, "length": 501})
    for text in ("a\nb", "a\x00b", "**a**", '"a b"', "a</s>"):
        assert why("player_1", Clue(text)) == Reason("no_line"), text
    assert why("player_1", Clue("Vote: player_2")) == Reason("clue_is_vote")
    assert why("player_1", Vote("player_2")) == Reason("clue_stage")
    for text in ("plums", "a cherry", "aplum", "a small red", "a" * 500, "..."):
        assert why("player_1", Clue(text)) is None


def test_own_clue_can_be_repeated_and_blank_clues_are_legal():
    game = fixed_game()
    for text in ("red", "", "", "round", "sweet"):
        assert game.why_illegal(game.to_move[0], Clue(text)) is None
        game.apply((Clue(text),))
    vote(game, 1, 2, 1, 1, 1)
    assert game.to_move == ("player_0",)
    assert game.why_illegal("player_0", Clue("Red")) is None
    assert game.why_illegal("player_0", Clue("Round")) == Reason("repeated", {"player": "player_3"})


def test_without_clue_check_repetition_is_legal_within_stages():
    game = fixed_game(clue_check=False)
    game.apply((Clue("plum"),))
    assert game.why_illegal("player_1", Clue("plum")) is None
    assert game.why_illegal("player_1", Clue("vote: player_2"))
    assert game.why_illegal("player_1", Clue("a" * 501))


def test_illegal_votes():
    game = fixed_game()
    speak(game)
    vote(game, 1, 0, 0, 0, 0)
    speak(game)
    why = game.why_illegal
    assert why("player_1", Vote("player_1")) == Reason("own_vote")
    others = "player_2, player_3, player_4"
    assert why("player_1", Vote("player_0")) == Reason("eliminated", {"target": "player_0", "others": others})
    assert why("player_1", Vote("player_9")) == Reason("no_such_player", {"target": "player_9", "others": others})
    assert why("player_1", Clue("red")) == Reason("vote_stage")
    assert why("player_1", Vote("player_2", (("player_2", "plum"),))) == Reason("no_guesses")
    assert why("player_1", Vote("player_4")) is None


def test_guesses():
    game = fixed_game(ask_guess=True)
    speak(game)
    why = game.why_illegal
    for guesses in [
        (("player_9", "plum"),),
        (("player_1", "plum"), ("player_1", "cherry")),
        (("player_1", ""),),
        (("player_1", "a;b"),),
        (("player_1", "x" * 101),),
    ]:
        assert why("player_0", Vote("player_1", guesses))
    everything = tuple(
        (f"player_{number}", word) for number, word in enumerate(["plum", "PLUM", "Plum.", "plum", "cherry"])
    )
    assert why("player_0", Vote("player_1", everything)) is None
    wrong = tuple((player, "pear") for player, _ in everything)
    game.apply(
        (
            Vote("player_1", everything),
            Vote("player_0", everything[1:]),
            Vote("player_0", wrong),
            Vote("player_0"),
            Vote("player_0", everything),
        )
    )
    assert game.scored_guesses == (
        ("player_0", True, True),
        ("player_1", True, False),
        ("player_2", False, False),
        ("player_3", False, False),
        ("player_4", True, True),
    )
    told = game.statistics("player_0")
    assert [told[name] for name in ("guesses", "guesses_right", "guesses_strict")] == [-1, -1, -1]
    speak(game)
    vote(game, 4, 4, 4, 1)
    assert game.statistics("player_4") | {"pair": 0} == {
        "blank_clues": 0,
        "votes_received": 3,
        "eliminated_round": 2,
        "role": 1,
        "pair": 0,
        "swapped": 0,
        "guesses": 2,
        "guesses_right": 1,
        "guesses_strict": 1,
    }


def test_statistics_name_the_side_only_after_the_match():
    game = fixed_game()
    while game.to_move:
        for agent in game.agents:
            told = game.statistics(agent)
            assert {name for name in told if told[name] != -1} == {"blank_clues", "votes_received", "eliminated_round"}
        if game.stage == "clue":
            game.apply((Clue("..." if game.to_move == ("player_2",) else game.to_move[0]),))
        else:
            game.apply(tuple(Vote("player_2" if agent != "player_2" else "player_1") for agent in game.living))
            break
    assert game.statistics("player_2") == {
        "blank_clues": 1,
        "votes_received": 4,
        "eliminated_round": 1,
        "role": -1,
        "pair": -1,
        "swapped": -1,
    }
    assert game.forfeit(("player_3",)) == (0, 0, 0, -1, 0)
    assert [game.statistics(agent)["role"] for agent in game.agents] == [0, 0, 0, 0, 1]


def test_default_actions():
    game = fixed_game()
    assert game.default_action("player_0") == Clue("")
    assert game.why_illegal("player_0", Clue("")) is None
    speak(game)
    assert game.default_action("player_0") is None


def test_views_list_the_votes():
    game = fixed_game()
    assert game.view("player_0").to_move
    assert game.view("player_0").legal == ()
    speak(game)
    assert game.view("player_2").legal == tuple(Vote(f"player_{number}") for number in (0, 1, 3, 4))
    assert all(game.why_illegal("player_2", action) is None for action in game.view("player_2").legal)
    assert [(clue.round, clue.sender) for clue in game.view("player_4").clues] == [(1, agent) for agent in game.agents]
