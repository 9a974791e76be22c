"""Tests of readable positions, move names and rules of card, dice, bidding and matrix games."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from llmarena_envs.adapters import make_adapted
from llmarena_envs.core.grid import text_of
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.listing import rules_of
from llmarena_envs.openspiel.rendering import cards, choices

pytestmark = pytest.mark.needs("pyspiel")

RENDERINGS = {**cards.RENDERINGS, **choices.RENDERINGS}
GAMES = sorted(RENDERINGS)
SLOW = ("bridge", "colored_trails", "yacht")
PLAYED = [pytest.param(game, marks=[pytest.mark.slow] if game in SLOW else []) for game in GAMES]
CHINESE = ("kuhn_poker", "leduc_poker", "liars_dice", "matrix_pd", "pig")


def make(game: str, **options: Any) -> Any:
    return make_adapted(f"openspiel/{game}", **options).unwrapped


def playout(env: Any, seed: int) -> Iterator[Any]:
    """Yields the game before each stage of a random match, and at its end."""
    rng = np.random.default_rng(seed)
    env.game.reset(rng)
    yield env.game
    while env.game.to_move:
        env.game.apply(tuple([env.game.random_action(agent, rng) for agent in env.game.to_move]))
        yield env.game


@pytest.mark.parametrize("game", PLAYED)
def test_rendering_random_matches_depends_on_the_view_alone(game: str) -> None:
    env, rendering = make(game), RENDERINGS[game]
    seen: dict[Any, str] = {}
    for seed in range(3):
        for position in playout(env, seed):
            for agent in position.agents:
                view = position.view(agent)
                text = text_of(rendering.render(view._replace(to_move=False, legal=(), names=()), "en"))
                assert text_of(rendering.render(view, "en")) == text
                known = (view.player, view.observation, view.information, view.moves)
                assert seen.setdefault(known, text) == text


@pytest.mark.parametrize("game", PLAYED)
def test_names_random_matches_differ_between_legal_moves(game: str) -> None:
    env = make(game)
    for seed in range(5):
        for position in playout(env, seed):
            for agent in position.to_move:
                view = position.view(agent)
                names = env.codec.names(view)
                assert len(set(map(str.casefold, names))) == len(names)
                assert all(env.codec.parse(f"move: {name}", view) == view.legal[i] for i, name in enumerate(names[:3]))


@pytest.mark.parametrize("game", GAMES)
def test_rules_have_a_moderate_length(game: str) -> None:
    rules = rules_of(game)
    assert rules is not None
    assert rules.title["en"]
    assert 80 <= len(rules.texts["en"].split()) <= 230
    assert ("zh" in rules.texts) == (game in CHINESE)


@pytest.mark.parametrize("game", CHINESE)
def test_rendering_chinese_has_chinese_words(game: str) -> None:
    env = make(game, language="zh")
    for position in playout(env, 0):
        text = text_of(env.codec.parts_of(position.view("player_0")))
        assert any("\u4e00" <= letter <= "\u9fff" for letter in text)


@pytest.mark.parametrize("game", [game for game in GAMES if game.startswith("matrix_") or game.endswith("_3p")])
def test_rules_matrix_game_state_its_payoffs(game: str) -> None:
    """Each line of choices and rewards agrees with OpenSpiel's game."""
    rules = rules_of(game)
    assert rules is not None
    spiel = make(game).game.spiel_game
    joint = 1
    for player in range(spiel.num_players()):
        joint *= len(spiel.new_initial_state().legal_actions(player))
    found = 0
    for text in rules.texts.values():
        for line in filter(lambda line: line.startswith("- "), text.splitlines()):
            choices_of, _, rewards = line[2:].partition(": ")
            state = spiel.new_initial_state()
            names = choices_of.split(", ")
            state.apply_actions([_action(state, player, name) for player, name in enumerate(names)])
            assert [float(reward) for reward in rewards.split(", ")] == state.returns()
            found += 1
    assert found == joint * len(rules.texts)


def _action(state: Any, player: int, name: str) -> int:
    names = [state.action_to_string(player, action) for action in state.legal_actions(player)]
    return int(state.legal_actions(player)[names.index(name)])


def shown(game: str, observation: str, information: str = "", player: int = 0, language: str = "en") -> str:
    """Returns the text of a position from OpenSpiel's strings."""
    agent = f"player_{player}"
    view = SpielView(agent, False, (), (), observation, information or observation, (), player)
    return text_of(RENDERINGS[game].render(view, language))


def test_rendering_kuhn_poker_after_a_bet_names_pot_and_moves() -> None:
    assert shown("kuhn_poker", "212", "2pb") == (
        "Your card: king\nPot: 3 chips, you have put in 1\nMoves so far: player_0 Pass, player_1 Bet"
    )


def test_rendering_leduc_poker_in_chinese_names_the_public_card() -> None:
    head = "[Observer: 0][Private: 3][Round 2][Player: 0][Pot: 10][Money: 95 95][Public: 1]"
    assert shown("leduc_poker", f"{head}[Ante: 5 5]", f"{head}[Round1: 2 2 1][Round2: ]", language="zh") == (
        "你的牌：Q\n公共牌：J\n底池：10 个筹码，其中你投入了 5 个\n"
        "第一轮：player_0 Raise, player_1 Raise, player_0 Call\n第二轮：无"
    )


def test_rendering_liars_dice_names_faces() -> None:
    assert shown("liars_dice", "6 1-6 2-5") == "Your dice: 6\nBids so far: player_0 1 six, player_1 2 fives"


def test_rendering_goofspiel_tells_the_prizes_to_come() -> None:
    observation = "Current point card: 2\nP0 hand: 1 3 \nP1 hand: 2 3 \nWin sequence: 1 \nPoints: 0 1 \n"
    information = f"Point card sequence: 1 2 \n{observation}"
    assert shown("goofspiel", observation, information).splitlines() == [
        "Round 1: prize 1, player_1 wins it",
        "Prize of this round: 2",
        "Prizes still to come, in unknown order: 3",
        "Bid cards of player_0 (you): 1, 3",
        "Bid cards of player_1: 2, 3",
        "Points: player_0 (you) 0, player_1 1",
    ]


def test_rendering_hearts_names_the_player_of_each_card() -> None:
    text = shown(
        "hearts",
        "Pass Direction: Across\n\nHand: \nS none\nH 952\nD Q\nC K6\n\nPassed Cards: 9S KD AD \n\n"
        "Received Cards: 4D 6C AC \n\nTricks:\nN  E  S  W  N  E  S\n         2C AC 5C 3C \nQC JC \n\n"
        "Points:\nN: 0\nE: 0\nS: 5\nW: 0",
        player=1,
    )
    assert "Your hand: 9H 5H 2H, QD, KC 6C\n" in text
    assert "Trick 1: player_3 2C, player_0 AC, player_1 5C, player_2 3C\nTrick 2: player_0 QC, player_1 JC\n" in text
    assert "Points: player_0 0, player_1 (you) 0, player_2 5, player_3 0" in text


def test_rendering_go_fish_hides_drawn_cards() -> None:
    text = shown(
        "go_fish",
        "Phase Ask\nCurrent Player 1\nYour cards: d3 f1 \nplayer 0 cards 12 books 1\nplayer 1 cards 14 books 1\n"
        "0 asked -3 for 6 recieved 1\n0 asked 1 for 0\n",
        player=1,
    )
    assert text.startswith("Your hand: 3 x 4, 1 x 6\n")
    assert text.endswith("player_0 asked player_1 for A and got 0\nplayer_0 drew a card")


def test_rendering_tarok_after_a_trick_names_the_next_leader() -> None:
    hand = "20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35"
    text = shown("tarok", f"{hand};0,0,1;20,0,21,5;3")
    assert text.endswith("Trick 1: player_0 Mond, player_1 Pagat, player_2 Skis\nTrick 2: player_1 IIII")
    assert "player_0 (you) is the declarer of the contract Klop." in text


def test_rules_tiny_hanabi_state_its_payoffs() -> None:
    rules = rules_of("tiny_hanabi")
    assert rules is not None
    game = make("tiny_hanabi").game.spiel_game
    for first, second in ((0, 0), (0, 1), (1, 0), (1, 1)):
        groups = []
        for action in range(3):
            rewards = []
            for answer in range(3):
                state = game.new_initial_state()
                for each in (first, second, action, answer):
                    state.apply_action(each)
                rewards.append(f"{state.returns()[0]:.0f}")
            groups.append(" ".join(rewards))
        assert f"- cards {first + 1} and {second + 1}: {' / '.join(groups)}\n" in rules.texts["en"]


def test_rules_crazy_eights_state_the_cost_of_each_card() -> None:
    """OpenSpiel counts the suit of a low card as well."""
    env = make("crazy_eights")
    *_, position = playout(env, 1)
    for player, agent in enumerate(position.agents):
        hand = text_of(env.codec.parts_of(position.view(agent))).partition("\n")[0].removeprefix("Your hand: ")
        cost = sum(map(_cost, hand.replace(",", "").split())) if hand != "none" else 0
        assert position.state.returns()[player] == -cost


def _cost(card: str) -> int:
    number = "23456789TJQKA".index(card[0]) + 2
    if number == 8:
        return 50
    return 10 if number > 10 else 4 * number - 6 + "CDHS".index(card[1])
