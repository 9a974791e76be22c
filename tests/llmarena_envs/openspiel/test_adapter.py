"""OpenSpiel's games as environments: names, options, play against OpenSpiel itself, and what is refused."""

import copy
import pickle
import sys
from functools import partial

import numpy as np
import pettingzoo
import pytest

from llmarena_envs import openspiel_v0
from llmarena_envs.adapters import make_adapted, registry_id
from llmarena_envs.catalogue import canonical_name, load_environment, make_environment, option_names, origin
from llmarena_envs.core.options import OptionError
from llmarena_envs.openspiel import classes
from llmarena_envs.openspiel.listing import GAMES, LISTED
from llmarena_envs.testing import NEED_RESAMPLE, check_environment

pytestmark = pytest.mark.needs("pyspiel")

SLOW_RULES = ("perfect_information_hides_nothing", "hash_order_does_not_matter")
"""Rules that play a match very often, or in new processes; two games are checked against them."""

SLOW_DEALS = ("bridge", "colored_trails", "yacht")
"""Games whose deal takes too long to compare hundreds of them."""

QUICK = ("goofspiel", "kuhn_poker", "matrix_pd", "negotiation", "phantom_ttt", "tic_tac_toe")
"""Games that every run of the tests checks."""

CHANCE = ("backgammon", "kuhn_poker", "gin_rummy", "goofspiel", "negotiation", "pig", "tarok")


def made(game, **options):
    return make_adapted(f"openspiel/{game}", **options)


def play(env, seed, turns=20_000):
    """Plays a random match and yields agent and action before each step."""
    raw = env.unwrapped
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(turns):
        agent = env.agent_selection
        if env.terminations[agent]:
            return
        action = raw.random_action(agent, rng)
        yield agent, action
        env.step(action)


@pytest.mark.parametrize(
    "game", [game if game in QUICK else pytest.param(game, marks=pytest.mark.slow) for game in GAMES]
)
def test_game_keeps_the_rules_of_the_suite(game):
    skip = (*SLOW_RULES, *(() if LISTED[game].resamples and game not in SLOW_DEALS else NEED_RESAMPLE))
    check_environment(lambda **options: made(game, **options), seeds=range(2), skip=skip, time_limit=300)


@pytest.mark.slow
@pytest.mark.parametrize("game", ["tic_tac_toe", "kuhn_poker"])
def test_game_keeps_the_slow_rules_as_well(game):
    check_environment(partial(make_adapted, f"openspiel/{game}"), seeds=range(2), time_limit=300)


@pytest.mark.slow_except(8)
@pytest.mark.parametrize(
    "game", [game for game in GAMES if not LISTED[game].seed_parameter]
)  # these draw anew when replayed
def test_match_is_the_same_in_openspiel(game):
    env = made(game)
    rules, received, actions = env.unwrapped.game, dict.fromkeys(env.possible_agents, 0.0), []
    for agent, action in play(env, seed=3):
        received[agent] += env.last()[1]
        state = rules.spiel_game.new_initial_state()
        if not actions or rules.to_move[0] == agent:
            replay(state, rules.state.history())
            legal = state.legal_actions(env.possible_agents.index(agent))
            assert list(np.flatnonzero(env.observe(agent)["action_mask"])) == sorted(legal)
        actions.append(action)
    for agent in list(env.agents):
        received[agent] += env.last()[1]
        env.step(None)
    replay(state := rules.spiel_game.new_initial_state(), rules.state.history())
    assert list(received.values()) == pytest.approx(state.returns())


def replay(state, history):
    """Applies a history, which holds one action for each player of a stage with several."""
    while history:
        if state.is_simultaneous_node():
            state.apply_actions(history[: state.num_players()])
            history = history[state.num_players() :]
        else:
            state.apply_action(history[0])
            history = history[1:]


@pytest.mark.parametrize("game", CHANCE)
def test_seed_alone_determines_chance(game):
    def texts(seed):
        env = made(game)
        return [env.observe(agent)["text"] for agent, _ in play(env, seed, turns=40)]

    assert texts(5) == texts(5)
    assert len({tuple(texts(seed)) for seed in range(6)}) > 1


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))])
@pytest.mark.parametrize("game", ["backgammon", "negotiation", "goofspiel"])
def test_copied_position_goes_on_identically(game, copied):
    env = made(game)
    for number, _ in enumerate(play(env, seed=2)):
        if number == 5:
            break
    twin = copied(env.unwrapped.game)
    rng = [np.random.default_rng(0), np.random.default_rng(0)]
    for position, generator in zip((env.unwrapped.game, twin), rng, strict=True):
        while position.to_move:
            position.apply(tuple(position.random_action(agent, generator) for agent in position.to_move))
    assert str(twin.state) == str(env.unwrapped.game.state)


def test_every_game_has_two_players_or_more():
    assert [game for game in GAMES if len(made(game).possible_agents) < 2] == []


def test_name_registry_id_and_module_make_the_same_game():
    envs = [
        openspiel_v0.env(game="kuhn_poker"),
        make_environment("openspiel/kuhn_poker"),
        pettingzoo.make("aec", "llmarena/openspiel:kuhn_poker-v0"),
    ]
    for env in envs:
        env.reset(seed=4)
    assert len({env.observe("player_0")["text"] for env in envs}) == 1
    assert canonical_name("llmarena/openspiel:kuhn_poker-v0") == "openspiel/kuhn_poker"
    assert registry_id("openspiel/chess") == "llmarena/openspiel:chess-v0"
    assert origin("openspiel/chess").startswith("open_spiel ")


def test_parallel_form_plays_a_game_of_simultaneous_moves():
    env = pettingzoo.make("parallel", "llmarena/openspiel:matrix_pd-v0")
    env.reset(seed=0)
    _, rewards, ended, _, _ = env.step({"player_0": 0, "player_1": 1})
    assert rewards == {"player_0": 0.0, "player_1": 10.0}
    assert all(ended.values())
    with pytest.raises(OptionError, match="they take turns; use env"):
        openspiel_v0.parallel_env(game="chess")


def test_parameters_of_the_game_are_options():
    assert "players" in option_names("openspiel/kuhn_poker")
    assert made("kuhn_poker", players=3).possible_agents == ["player_0", "player_1", "player_2"]
    assert "rng_seed" not in option_names("openspiel/negotiation")
    with pytest.raises(OptionError, match=r"openspiel/kuhn_poker: option: expected one of .*'players'.*got 'player'"):
        made("kuhn_poker", player=3)
    with pytest.raises(OptionError, match="openspiel/kuhn_poker"):
        made("kuhn_poker", players=99)


def test_random_opening_is_played_before_the_match_and_does_not_end_it():
    assert load_environment("openspiel/tic_tac_toe").declaration.rated_options == {"random_opening": 2}
    env = made("tic_tac_toe", random_opening=20)
    boards = set()
    for seed in range(20):
        env.reset(seed=seed)
        assert env.unwrapped.game.to_move
        boards.add(str(env.unwrapped.game.state))
    assert len(boards) > 5


@pytest.mark.parametrize("game", ["kuhn_poker", "chess", "leduc_poker"])
def test_vector_is_openspiels_tensor(game):
    env = made(game, obs_type="vector")
    for agent, _ in play(env, seed=1, turns=10):
        state, player = env.unwrapped.game.state, env.possible_agents.index(agent)
        hidden = state.get_game().get_type().provides_information_state_tensor
        tensor = state.information_state_tensor(player) if hidden else state.observation_tensor(player)
        observation = env.observe(agent)
        assert np.array_equal(observation["observation"], np.asarray(tensor, np.float32))
        assert env.observation_space(agent).contains(observation)


@pytest.mark.parametrize(("game", "totals"), [("kuhn_poker", {-2.0, 2.0}), ("bargaining", {0.0})])
def test_forfeit_costs_the_lowest_total(game, totals):
    env = made(game)
    env.reset(seed=0)
    env.step(10_000)
    assert env.terminations["player_0"]
    assert {env._cumulative_rewards[agent] for agent in env.possible_agents} == totals


def test_unsupported_games_are_refused_with_the_reason():
    with pytest.raises(OptionError, match="openspiel/2048: not supported: it has one player"):
        load_environment("openspiel/2048")
    with pytest.raises(OptionError, match="got 'ches'; did you mean 'chess'"):
        load_environment("openspiel/ches")


def test_without_openspiel_the_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    classes.load.cache_clear()
    with pytest.raises(OptionError, match=r"pip install 'llmarena-envs\[openspiel\]'"):
        load_environment("openspiel/chess")
    classes.load.cache_clear()
