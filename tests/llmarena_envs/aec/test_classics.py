"""The classic games of PettingZoo play here as they do in PettingZoo."""

import copy
import importlib
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from agents.registry import baselines
from agents.training.deals import Deal
from llmarena_envs.adapters import load_adapted
from llmarena_envs.aec.listing import GAMES, LISTED, rules_of
from llmarena_envs.core.failures import InvalidReply
from llmarena_envs.core.options import OptionError
from llmarena_envs.testing import NEED_RESAMPLE, check_environment

pytestmark = pytest.mark.needs("rlcard", "chess", "pyspiel", "shimmy")

CLASSIC = "pettingzoo.classic."
QUICK = ("tictactoe_v3", "leduc_holdem_v4", "rps_v2")
OPTIONS: dict[str, dict[str, Any]] = {
    "chess_v6": {"max_turns": 30, "random_opening": 4},
    "go_v5": {"max_turns": 30, "board_size": 5},
}
"""Shorter matches of long games."""


def make(name: str, **options: Any) -> Any:
    return load_adapted(f"aec/{CLASSIC}{name}").env(**options)


def games(*quick: str) -> list[Any]:
    names = [game.removeprefix(CLASSIC) for game in GAMES]
    return [pytest.param(name, marks=() if name in quick else pytest.mark.slow) for name in names]


def play(env: Any, actions: list[int]) -> None:
    for action in actions:
        env.step(action)


def is_over(env: Any) -> bool:
    return env.unwrapped.ending(env.possible_agents[0]) is not None


@pytest.mark.parametrize("name", games(*QUICK))
def test_classic_game_keeps_every_rule_of_the_suite(name):
    listed = LISTED[CLASSIC + name]
    check_environment(
        load_adapted(f"aec/{CLASSIC}{name}").env,
        options=OPTIONS.get(name),
        seeds=range(2),
        zero_sum=listed.zero_sum,
        skip=() if listed.perfect_information else NEED_RESAMPLE,
        time_limit=120,
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", games(*(game.removeprefix(CLASSIC) for game in GAMES if "chess" not in game)))
def test_match_has_masks_and_rewards_of_pettingzoo(name, seed):
    options = {"board_size": 5} if name == "go_v5" else {}
    ours = make(name, **options)
    ours.reset(seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = importlib.import_module(CLASSIC + name).env(**options)
    theirs.reset(seed=ours.unwrapped.game.seed)
    rng = np.random.default_rng(seed)
    received = dict.fromkeys(theirs.possible_agents, 0.0)
    totals = dict(received)
    for agent in theirs.agent_iter(5000):
        observation, reward, terminated, truncated, _ = theirs.last()
        received[agent] += reward
        if terminated or truncated:
            assert is_over(ours)
            theirs.step(None)
            continue
        assert agent == ours.agent_selection
        mask = ours.observe(agent)["action_mask"]
        assert (mask == (observation["action_mask"] if isinstance(observation, dict) else 1)).all()
        action = int(rng.choice(np.flatnonzero(mask)))
        ours.step(action)
        theirs.step(action)
        totals = {each: totals[each] + ours.rewards[each] for each in totals}
    assert totals == received
    assert {each: ours.unwrapped.ending(each).reward for each in received} == received


@pytest.mark.parametrize("name", games(*QUICK, "hanabi_v5", "go_v5"))
def test_copies_continue_the_same_match(name):
    env = make(name)
    env.reset(seed=5)
    rng = np.random.default_rng(0)
    for _ in range(4):
        if not is_over(env):
            env.step(env.unwrapped.random_action(env.agent_selection, rng))
    game = env.unwrapped.game
    twins = [copy.copy(game), copy.deepcopy(game), pickle.loads(pickle.dumps(game))]
    while game.to_move:
        action = game.random_action(game.to_move[0], rng)
        for twin in (game, *twins):
            twin.apply((action,))
        assert all(
            [twin.view(agent) for agent in game.agents] == [game.view(agent) for agent in game.agents] for twin in twins
        )
        assert all(twin.rewards == game.rewards for twin in twins)


def test_go_boards_of_two_sizes_can_be_played_in_turn():
    small, large = make("go_v5", board_size=5), make("go_v5", board_size=9)
    for env in (small, large):
        env.reset(seed=1)
    for corner, point in (("A5", "A9"), ("E1", "J1"), ("C3", "E5")):
        for env, move in ((small, corner), (large, point)):
            agent = env.agent_selection
            env.step(env.unwrapped.parse(f"move: {move}", agent))
            assert f"{agent} {move}" in env.observe(agent)["text"]
    twin = copy.copy(small.unwrapped.game)
    large.step(large.unwrapped.parse("move: pass", large.agent_selection))
    twin.apply((25,))
    assert twin.view("white_0").parts[0].rows[0] == ("X", ".", ".", ".", ".")


@pytest.mark.parametrize("reply", ["move: Nf3", "move: g1f3", "I develop.\n**Move:** Nf3", "nf3"])
def test_chess_move_is_read_in_san_and_uci(reply):
    env = make("chess_v6")
    env.reset(seed=0)
    action = env.unwrapped.parse(reply, "player_0")
    assert env.unwrapped.format(action, "player_0") == "move: Nf3"


def test_chess_check_is_read_without_its_mark():
    env = make("chess_v6")
    env.reset(seed=0)
    for move in ("e4", "f6", "d4", "g5"):
        env.step(env.unwrapped.parse(f"move: {move}", env.agent_selection))
    assert "Qh5#" in env.observe("player_0")["text"]
    env.step(env.unwrapped.parse("move: Qh5", "player_0"))
    assert [env.unwrapped.ending(agent).reward for agent in env.possible_agents] == [1.0, -1.0]


def test_rps_first_choice_is_hidden_from_second_player():
    texts = []
    for choice in ("rock", "paper"):
        env = make("rps_v2")
        env.reset(seed=0)
        env.step(env.unwrapped.parse(f"move: {choice}", "player_0"))
        texts.append(env.observe("player_1")["text"])
        env.step(env.unwrapped.parse("move: paper", "player_1"))
        assert f"player_0 {choice}, player_1 paper" in env.observe("player_1")["text"]
    assert texts[0] == texts[1]


def test_card_texts_hide_the_opponents_cards():
    env = make("texas_holdem_v4")
    env.reset(seed=1)
    hands = [player.hand for player in env.unwrapped.game.inner.env.env.game.players]
    cards = [[f"{card.rank}{card.suit.lower()}" for card in hand] for hand in hands]
    for seat, agent in enumerate(env.possible_agents):
        text = env.observe(agent)["text"]
        assert f"Your cards: {' '.join(cards[seat])}" in text
        assert not any(f" {card}" in text for card in cards[1 - seat])


@pytest.mark.parametrize(
    ("name", "lowest"), [("tictactoe_v3", -1), ("texas_holdem_no_limit_v6", -100), ("rps_v2", -15)]
)
def test_illegal_action_costs_the_lowest_total(name, lowest):
    env = make(name)
    env.reset(seed=0)
    offender = env.agent_selection
    env.step(99)
    totals = {agent: env.unwrapped.ending(agent).reward for agent in env.possible_agents}
    assert totals.pop(offender) == lowest
    assert list(totals.values()) == [-lowest]


def test_illegal_reply_is_refused_with_the_form_of_a_move():
    env = make("tictactoe_v3")
    env.reset(seed=0)
    env.step(env.unwrapped.parse("move: b2", "player_1"))
    with pytest.raises(InvalidReply, match=r"move: \w\d"):
        env.unwrapped.parse("move: b2", "player_2")


def test_match_ends_at_max_turns_with_rewards_so_far():
    env = make("rps_v2", max_turns=4)
    env.reset(seed=0)
    for choice in ("rock", "paper", "rock", "rock"):
        env.step(env.unwrapped.parse(f"move: {choice}", env.agent_selection))
    assert [env.unwrapped.ending(agent).reward for agent in env.possible_agents] == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("go_v5", {"board_size": 10**6}),
        ("go_v5", {"komi": "7.5"}),
        ("rps_v2", {"num_actions": 4}),
        ("texas_holdem_v4", {"num_players": True}),
        ("hanabi_v5", {"random_start_player": True}),
        ("chess_v6", {"screen_height": 100}),
    ],
)
def test_option_out_of_bounds_is_refused(name, options):
    with pytest.raises(OptionError, match=next(iter(options))):
        make(name, **options)


def test_deal_of_a_classic_game_is_read_from_an_untrusted_row():
    deal = Deal(f"aec/{CLASSIC}leduc_holdem_v4", 3, {"player_1": "random"})
    assert Deal.from_json(deal.to_json()) == deal
    match = deal.match()
    question = match.start_sync()
    while question is not None:
        question = match.reply_sync("move: fold")
    assert match.reward("player_0") < 0


def test_search_plays_games_of_perfect_information_only():
    searched = {game for game in GAMES if "mcts" in baselines(f"aec/{game}")}
    assert searched == {f"{CLASSIC}{name}" for name in ("chess_v6", "go_v5", "tictactoe_v3", "connect_four_v3")}


@pytest.mark.parametrize("game", GAMES)
def test_rules_have_80_to_200_words_and_an_example(game):
    rules = rules_of(game)
    assert 80 <= len(rules.split()) <= 200
    assert '"move: ' in rules
