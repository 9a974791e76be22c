import numpy as np
import pytest

from agents.baselines.hanabi import Convention, Reading
from agents.play import play as play_match
from agents.policy import ScriptedPolicy
from agents.registry import make_policy
from llmarena_envs import hanabi_v0
from llmarena_envs.core.options import OptionError
from llmarena_envs.hanabi.actions import Kind
from llmarena_envs.hanabi.cards import Card, Knowledge
from llmarena_envs.hanabi.game import Hanabi
from llmarena_envs.hanabi.variant import Variant
from tests.llmarena_envs.hanabi.positions import (
    DISCARD_1,
    DISCARD_2,
    FULL,
    PLAY_1,
    PLAY_2,
    RANK_1,
    RED,
    YELLOW,
    small_game,
)


class Anybody(ScriptedPolicy):
    """Plays any legal action."""

    def __call__(self, view):
        return self.choose(view.legal)


def scores(games, policies, *, choose=None, **options):
    """Plays seeded games and returns the scores; ``choose`` picks actions from the game itself, if it is given."""
    game = Hanabi(Variant(**options))
    results = []
    for number in range(games):
        game.reset(np.random.default_rng([20, number]))
        for seat, policy in enumerate(policies):
            policy.reset(f"player_{seat}", number)
        while game.to_move:
            action = choose(game) if choose else policies[game.turn](game.view(game.to_move[0]))
            assert action in game.legal
            game.apply((action,))
        results.append(game.score)
    return np.array(results)


def cheat(game):
    """Plays with open cards: a playable card, else the cheapest discard; an upper bound for players limited to their view."""
    reading = Reading(game.view(game.to_move[0]))
    size, hand = game.variant.hand_size, game.hands[game.turn]
    partner = [card for other in reading.view.hands for card in other]
    playable = [position for position, card in enumerate(hand) if reading.is_playable(card)]
    if playable:
        return size + min(playable, key=lambda position: hand[position].rank)
    hints = [action for action in game.legal if action >= 2 * size]
    if game.info_tokens == game.variant.info_tokens or (hints and any(map(reading.is_playable, partner))):
        return hints[0] if hints else game.legal[0]
    spare = [
        position
        for position, card in enumerate(hand)
        if not reading.is_useful(card) or card in partner or hand.count(card) > 1
    ]
    if spare:
        return spare[0]
    if hints:
        return hints[0]
    return min(range(len(hand)), key=lambda position: (reading.is_critical(hand[position]), -hand[position].rank))


@pytest.mark.slow
def test_the_convention_scores_more_than_sixty_percent_with_itself():
    results = scores(1000, [Convention(), Convention()])
    assert results.mean() > 6.8
    assert results.min() > 0  # the only life is never lost
    assert results.max() == 10


@pytest.mark.slow
def test_hanabi_baselines_score_at_most_the_cheater():
    cheated = scores(300, [], choose=cheat)
    assert cheated.mean() > 9
    honest = scores(300, [Convention(), Convention()])
    assert cheated.mean() > honest.mean() + 1
    assert np.mean(cheated >= honest) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize(("players", "hand_size", "mean"), [(2, 5, 20), (3, 5, 20), (4, 4, 19), (5, 4, 18)])
def test_the_full_game(players, hand_size, mean):
    options = {**FULL, "players": players, "hand_size": hand_size}
    results = scores(25, [Convention() for _ in range(players)], **options)
    assert results.mean() > mean
    assert results.min() > 0


def test_random_players_score_almost_zero():
    assert scores(300, [Anybody(), Anybody()]).mean() < 0.2


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hand_size": 1},
        {"colors": 1, "ranks": 1, "hand_size": 1},
        {"colors": 1, "hand_size": 5},
        {"players": 5, "colors": 2, "hand_size": 4, "bomb_score": "keep"},
        {"players": 3, "colors": 5, "ranks": 2, "hand_size": 5, "info_tokens": 1, "life_tokens": 3},
    ],
    ids=str,
)
def test_convention_plays_legally_with_any_partner_and_options(options):
    variant = Variant(**options)
    scores(40, [Convention() if seat % 2 else Anybody() for seat in range(variant.players)], **options)
    scores(40, [Convention() for _ in range(variant.players)], **options)


def choice(game):
    return Convention()(game.view(game.to_move[0]))


def test_convention_hints_a_playable_card_by_rank():
    assert choice(small_game()) == RANK_1


def test_convention_plays_hinted_cards():
    assert choice(small_game(RANK_1)) == PLAY_1


def test_only_the_newest_card_of_a_rank_hint_is_promised():
    deck = "R1 R4 R1 Y1 R2 R5 Y3 Y1 R4 Y4 R1 Y5 Y1 Y2 Y2 R2 R3 R3 Y3 Y4"
    told = small_game(PLAY_1, RED, RANK_1, deck=deck)
    reading = Reading(told.view("player_1"))
    assert set(reading.candidates(0, 0, reading.unseen)) == {Card(0, 1), Card(1, 1)}
    assert set(reading.candidates(0, 1, reading.unseen)) == {Card(1, 1)}
    assert choice(told) == PLAY_2


def test_convention_skips_cards_a_partner_may_have_played():
    deck = "R3 R4 R1 Y3 R1 Y4 R1 Y1 Y1 Y1 R2 R2 Y2 Y2 R3 Y3 R4 Y4 R5 Y5"
    tell_player_2_of_rank_1 = Variant(players=3).actions.index((Kind.REVEAL_RANK, 1, 2))
    promised = small_game(tell_player_2_of_rank_1, players=3, deck=deck)
    assert Reading(promised.view("player_2")).known_playable(0, Reading(promised.view("player_2")).unseen) == [0]
    promised.apply((PLAY_1,))
    assert promised.fireworks == (1, 0)
    reading = Reading(promised.view("player_2"))
    assert set(reading.candidates(0, 0, reading.unseen)) == {Card(0, 1), Card(1, 1)}
    assert choice(promised) != PLAY_1


def test_it_saves_the_last_of_a_kind_by_its_colour():
    deck = "R4 Y4 R5 Y2 R1 Y1 R1 Y1 R1 Y1 R2 Y2 R2 Y3 R3 Y3 R3 R4 Y4 Y5"
    game = small_game(deck=deck)
    position = Reading(game.view("player_0")).next_discard(1, Reading(game.view("player_0")).unplaced)
    assert game.hands[1][position] == Card(0, 5)
    assert choice(game) == RED
    game.apply((RED,))
    assert Reading(game.view("player_1")).next_discard(0, Reading(game.view("player_1")).unseen) == 1


def test_convention_discards_certainly_useless_cards():
    game = small_game(PLAY_1, RED, deck="R1 R4 Y3 Y4 R1 Y1 R5 Y5 R1 Y1 R2 Y2 R2 Y3 R3 Y1 R3 R4 Y4 Y2")
    red_one = Knowledge((0,), (1,), color_told=True, rank_told=True)
    game.knowledge = ((game.knowledge[0][0], red_one), game.knowledge[1])
    reading = Reading(game.view("player_0"))
    assert [reading.is_useful(Card(0, rank)) for rank in range(1, 6)] == [False, True, True, True, True]
    assert choice(game) == DISCARD_2


def test_cards_above_a_lost_one_are_useless():
    deck = "Y1 Y1 Y1 R3 R1 R1 R1 Y2 Y2 R2 R2 R3 Y3 Y3 R4 R4 Y4 Y4 R5 Y5"
    game = small_game(RED, DISCARD_1, RED, YELLOW, DISCARD_1, RED, deck=deck)
    before, last = Reading(game.view("player_0")), Card(1, 1)
    assert before.is_critical(last)
    assert [before.is_useful(Card(1, rank)) for rank in range(1, 6)] == [True] * 5
    game.apply((DISCARD_1,))
    assert game.discards == (last,) * 3
    after = Reading(game.view("player_0"))
    assert [after.is_useful(Card(1, rank)) for rank in range(1, 6)] == [False] * 5
    assert after.is_useful(Card(0, 1))


def test_its_name_on_the_command_line():
    assert type(make_policy("convention", "hanabi_v0")) is Convention
    assert type(make_policy("convention", "llmarena/hanabi-v0")) is Convention
    with pytest.raises(OptionError, match="convention"):
        make_policy("conventions", "hanabi_v0")
    with pytest.raises(OptionError, match="expected one of"):
        make_policy("convention", "tictactoe_v0")


def test_it_plays_matches_in_the_environment():
    policies = {"player_0": Convention(), "player_1": Convention()}
    episode = play_match(hanabi_v0.env(), policies, seed=4)
    assert episode.rewards["player_0"] == episode.rewards["player_1"] > 0
    assert episode.infos["player_0"]["score"] == episode.rewards["player_0"]
