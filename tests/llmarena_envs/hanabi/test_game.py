import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.options import OptionError
from llmarena_envs.hanabi.actions import Kind
from llmarena_envs.hanabi.cards import Card, Knowledge, full_deck
from llmarena_envs.hanabi.game import Event, Hanabi
from llmarena_envs.hanabi.variant import Variant
from tests.llmarena_envs.hanabi.positions import (
    DECK,
    DISCARD_1,
    DISCARD_2,
    FULL,
    PLAY_1,
    PLAY_2,
    RANK_1,
    RANK_2,
    RANK_3,
    RED,
    YELLOW,
    codes,
    play,
    random_game,
    small_game,
)

NOTHING_TOLD = Knowledge((0, 1), (1, 2, 3, 4, 5))


def test_the_deal():
    game = small_game()
    assert [codes(hand) for hand in game.hands] == ["R1 R2", "Y1 Y2"]
    assert game.knowledge == ((NOTHING_TOLD, NOTHING_TOLD),) * 2
    assert (game.fireworks, game.info_tokens, game.life_tokens, game.deck_size) == ((0, 0), 3, 1, 16)
    assert game.to_move == ("player_0",)
    assert game.legal == (PLAY_1, PLAY_2, YELLOW, RANK_1, RANK_2)


def test_playable_card_scores_for_all_and_new_card_comes_last():
    game = small_game(PLAY_1)
    assert game.rewards == (1.0, 1.0)
    assert (game.score, game.fireworks) == (1, (1, 0))
    assert codes(game.hands[0]) == "R2 R3"
    assert game.deck_size == 15
    assert game.history == (Event(0, PLAY_1, Card(0, 1), True),)
    play(game, RANK_2)
    assert game.rewards == (0.0, 0.0)


def test_hint_costs_a_token_and_marks_every_matching_card():
    game = small_game(RANK_2)
    assert game.info_tokens == 2
    assert game.history == (Event(0, RANK_2, None, False, (1,)),)
    assert game.knowledge[1] == (Knowledge((0, 1), (1, 3, 4, 5)), Knowledge((0, 1), (2,), rank_told=True))
    play(game, RED)
    assert game.knowledge[0] == (Knowledge((0,), (1, 2, 3, 4, 5), color_told=True),) * 2
    play(game, YELLOW)
    assert game.knowledge[1] == (
        Knowledge((1,), (1, 3, 4, 5), color_told=True),
        Knowledge((1,), (2,), color_told=True, rank_told=True),
    )
    assert game.info_tokens == 0
    assert game.legal == (DISCARD_1, DISCARD_2, PLAY_1, PLAY_2)


def test_knowledge_moves_with_its_card():
    game = small_game(RANK_1, RANK_2)
    told = game.knowledge[0][1]
    assert told == Knowledge((0, 1), (2,), rank_told=True)
    play(game, PLAY_1)
    assert codes(game.hands[0]) == "R2 R3"
    assert game.knowledge[0] == (told, NOTHING_TOLD)
    assert told.hinted
    assert not NOTHING_TOLD.hinted


def test_discard_returns_a_token_and_is_illegal_with_all():
    game = small_game(RANK_1)
    assert game.info_tokens == 2
    play(game, DISCARD_2)
    assert game.info_tokens == 3
    assert codes(game.discards) == "Y2"
    assert codes(game.hands[1]) == "Y1 R3"
    assert game.rewards == (0.0, 0.0)
    assert game.why_illegal("player_0", DISCARD_1) == Reason("no_discard", {"info_tokens": 3})


@pytest.mark.parametrize(("bomb_score", "last", "score"), [("zero", -1.0, 0), ("keep", 0.0, 1)])
def test_the_last_life(bomb_score, last, score):
    game = small_game(PLAY_1, PLAY_2, bomb_score=bomb_score)
    assert game.to_move == ()
    assert game.rewards == (last, last)
    assert (game.life_tokens, game.score, game.fireworks) == (0, score, (1, 0))
    assert codes(game.discards) == "Y2"
    assert codes(game.hands[1]) == "Y1"  # no draw after the end
    assert game.deck_size == 15
    assert game.view("player_0").legal == game.view("player_1").legal == ()


def test_lost_life_continues_play_while_lives_remain():
    game = small_game(PLAY_1, PLAY_2, life_tokens=2)
    assert (game.life_tokens, game.score, game.rewards) == (1, 1, (0.0, 0.0))
    assert codes(game.hands[1]) == "Y1 R1"
    play(game, PLAY_2)  # Red 3
    assert (game.life_tokens, game.score, game.rewards) == (0, 0, (-1.0, -1.0))


PERFECT = "R1 R2 Y1 Y2 R3 Y3 R4 Y4 R5 Y5 R1 Y1 R1 Y1 R2 Y2 R3 Y3 R4 Y4"


def test_complete_firework_returns_token_and_all_end_the_match():
    game = small_game(PLAY_1, RED, PLAY_1, PLAY_1, deck=PERFECT)
    assert game.info_tokens == 2
    play(game, *[PLAY_1] * 6)
    assert game.fireworks == (5, 4)
    assert game.info_tokens == 3
    play(game, PLAY_1)
    assert game.to_move == ()
    assert game.score == 10
    assert game.rewards == (1.0, 1.0)
    assert game.turns_left == 2
    assert game.info_tokens == 3  # it cannot have more than at the start


def test_every_player_has_one_turn_after_the_last_card():
    game = small_game(RANK_1)
    while game.deck_size:
        play(game, DISCARD_1)
        if game.info_tokens == 3 and game.deck_size:
            play(game, next(number for number in game.legal if number >= RED))
    assert game.turns_left == 2
    player = game.to_move
    play(game, game.legal[-1])
    assert game.turns_left == 1
    play(game, game.legal[-1])
    assert game.to_move == ()
    assert len(game.history) >= 34
    assert player == ("player_0",)


def test_why_illegal():
    game = small_game()
    assert game.why_illegal("player_1", PLAY_1) == Reason("not_your_turn")
    assert game.why_illegal("player_0", RED) == Reason("marks_no_color", {"receiver": "player_1", "color": "Red"})
    assert game.why_illegal("player_0", RANK_3) == Reason("marks_no_rank", {"receiver": "player_1", "rank": 3})
    for action in (-1, 11, 10**9):
        assert game.why_illegal("player_0", action) == Reason("no_such_action", {"last": 10})
    play(game, RANK_1, RANK_1, RANK_2)
    assert game.why_illegal("player_1", RED) == Reason("no_token")
    three = Hanabi(Variant(players=3, **FULL))
    three.reset(np.random.default_rng(0))
    missing = set(range(5)) - {card.color for card in three.hands[2]}
    kind_and_color = (Kind.REVEAL_COLOR, min(missing), 2)
    reason = three.why_illegal("player_0", three.variant.actions.index(kind_and_color))
    assert reason and reason.fields["receiver"] == "player_2"


def test_a_short_hand_in_the_last_round():
    game = Hanabi(Variant(hand_size=5, colors=1), deck="R1 R2 R3 R4 R5 R1 R2 R3 R4 R1")
    game.reset(np.random.default_rng(0))
    assert game.max_turns == 2
    play(game, 5)
    assert codes(game.hands[0]) == "R2 R3 R4 R5"
    play(game, 6)
    assert game.to_move == ()
    assert game.score == 2


@pytest.mark.parametrize(
    ("bomb_score", "rewards", "score"), [("zero", (-3.0, -4.0), 0), ("keep", (0.0, -1.0), 3)], ids=["zero", "keep"]
)
def test_a_forfeit_saves_no_points_that_a_misplay_would_lose(bomb_score, rewards, score):
    game = small_game(PLAY_1, PLAY_1, PLAY_1, bomb_score=bomb_score)
    assert game.forfeit(("player_1",)) == rewards
    assert game.statistics("player_0")["score"] == score
    assert small_game().forfeit(("player_0",)) == (-1.0, 0.0)


VARIANTS = st.builds(
    lambda **options: options,
    players=st.integers(2, 5),
    colors=st.integers(1, 5),
    ranks=st.integers(1, 5),
    hand_size=st.integers(1, 5),
    info_tokens=st.integers(1, 8),
    life_tokens=st.integers(1, 3),
    bomb_score=st.sampled_from(["zero", "keep"]),
).filter(
    lambda options: options["players"] * options["hand_size"] <= len(full_deck(options["colors"], options["ranks"]))
)


def slowest(game):
    """Returns the actions that draw a match out: hints while there are tokens, else discards."""
    hints = [
        number for number in game.legal if game.variant.actions[number].kind in (Kind.REVEAL_COLOR, Kind.REVEAL_RANK)
    ]
    discards = [number for number in game.legal if game.variant.actions[number].kind is Kind.DISCARD]
    return hints or discards or game.legal


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(VARIANTS, st.integers(0, 2**32))
def test_invariants_and_bound_of_random_games(options, seed):
    variant = Variant(**options)
    points = 0.0
    for game in random_game(variant, np.random.default_rng(seed)):
        check_invariants(game)
        points += game.rewards[0]
        assert points == game.score
    assert len(game.history) <= variant.max_turns


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(VARIANTS, st.integers(0, 2**32))
def test_the_bound_is_reached_by_drawing_a_match_out(options, seed):
    variant = Variant(**options)
    game = list(random_game(variant, np.random.default_rng(seed), slowest))[-1]
    if game.life_tokens:
        assert len(game.history) == variant.max_turns


def check_invariants(game):
    variant = game.variant
    stacks = [Card(color, rank) for color, top in enumerate(game.fireworks) for rank in range(1, top + 1)]
    everywhere = [*stacks, *game.discards, *game.deck[game.dealt :], *(card for hand in game.hands for card in hand)]
    assert sorted(everywhere) == sorted(full_deck(variant.colors, variant.ranks))
    assert 0 <= game.info_tokens <= variant.info_tokens
    assert 0 <= game.life_tokens <= variant.life_tokens
    assert game.score == (sum(game.fireworks) if game.life_tokens or variant.bomb_score == "keep" else 0)
    assert len(game.view("player_0").history) == sum(map(sum, game.counts))
    for hand, known in zip(game.hands, game.knowledge, strict=True):
        for card, what in zip(hand, known, strict=True):
            assert card.color in what.colors
            assert card.rank in what.ranks
            assert not what.color_told or what.colors == (card.color,)
            assert not what.rank_told or what.ranks == (card.rank,)
    if game.to_move:
        assert game.legal
        assert [game.why_illegal(game.to_move[0], number) is None for number in range(game.num_actions)] == [
            number in game.legal for number in range(game.num_actions)
        ]


@pytest.mark.parametrize(
    ("options", "bound"),
    [
        ({}, 36),
        (FULL, 2 * 40 + 8 - 1 + 2),
        ({**FULL, "players": 3}, 2 * 35 + 8 - 1 + 3),
        ({**FULL, "players": 5, "hand_size": 4}, 2 * 30 + 8 - 1 + 5),
        ({"colors": 1, "hand_size": 5}, 2),
    ],
)
def test_max_turns(options, bound):
    assert Hanabi(Variant(**options)).max_turns == bound


def test_seeds():
    def deck(rng, **options):
        game = Hanabi(Variant(), **options)
        game.reset(rng)
        return game.deck

    assert deck(np.random.default_rng(1)) == deck(np.random.default_rng(1))
    assert len({deck(np.random.default_rng(seed)) for seed in range(50)}) == 50
    rng = np.random.default_rng(1)
    assert deck(rng) != deck(rng)
    assert deck(rng, deck_seed=5) == deck(rng, deck_seed=5) == deck(np.random.default_rng(5))
    assert deck(rng, deck_seed=5) != deck(rng, deck_seed=6)


def test_every_order_of_the_deck_is_equally_likely():
    rng = np.random.default_rng(0)
    game = Hanabi(Variant())
    counts = np.zeros((20, 10))
    for _ in range(4000):
        game.reset(rng)
        for place, card in enumerate(game.deck):
            counts[place, card.color * 5 + card.rank - 1] += 1
    expected = np.array([3, 2, 2, 2, 1] * 2) / 20
    assert np.abs(counts / 4000 - expected).max() < 0.035


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"players": 1}, "players: expected an integer from 2 to 5, got 1"),
        ({"players": 6}, "players"),
        ({"players": True}, "players"),
        ({"colors": 0}, "colors: expected an integer from 1 to 5, got 0"),
        ({"colors": 6}, "colors"),
        ({"ranks": 0}, "ranks"),
        ({"ranks": 6}, "ranks"),
        ({"hand_size": 0}, "hand_size"),
        ({"hand_size": 6}, "hand_size"),
        ({"hand_size": "2"}, "hand_size: expected an integer from 1 to 5, got '2'"),
        ({"info_tokens": 0}, "info_tokens"),
        ({"info_tokens": 9}, "info_tokens"),
        ({"life_tokens": 0}, "life_tokens"),
        ({"life_tokens": 4}, "life_tokens"),
        ({"bomb_score": "zer"}, "bomb_score: expected one of 'zero', 'keep', got 'zer'; did you mean 'zero'"),
        (
            {"players": 5, "colors": 1, "hand_size": 3},
            "hand_size: expected at most 2, as 5 players share 10 cards, got 3",
        ),
    ],
)
def test_variants_are_checked(options, message):
    with pytest.raises(OptionError, match=message):
        Variant(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deck": "R1 R2"}, "all 20 cards .* missing R1 R1 R2 R3"),
        ({"deck": DECK + " R1"}, "too many R1"),
        ({"deck": DECK.replace("R5", "B5")}, "missing R5; too many B5"),
        ({"deck": ""}, "missing"),
        ({"deck": 5}, "missing"),
        ({"deck": ["R1"]}, "expected a text"),
        ({"deck": DECK, "deck_seed": 1}, "give one of the two"),
        ({"deck_seed": -1}, "deck_seed: expected an integer from 0"),
        ({"deck_seed": "1"}, "deck_seed"),
    ],
)
def test_decks_are_checked(options, message):
    with pytest.raises(OptionError, match=message):
        Hanabi(Variant(), **options)
