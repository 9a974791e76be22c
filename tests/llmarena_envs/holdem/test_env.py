"""The PettingZoo environment."""

import inspect
import re
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test, render_test, seed_test

from llmarena_envs import holdem_v0
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError
from llmarena_envs.holdem import env as env_module
from llmarena_envs.holdem.betting import Action
from llmarena_envs.holdem.cards import parse_cards

DECK = "AhAd KhKd 2c 7d 9h 4s Jc"


def made(actions: str = "", **options: Any) -> holdem_v0.raw_env:
    """Returns an environment after some actions, given by their numbers."""
    env = holdem_v0.raw_env(**{"button": 0, **options})
    env.reset(seed=0)
    for action in actions.replace(" ", ""):
        env.step(int(action))
    return env


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("options", [{}, {"rules": "rlcard"}, {"players": 6, "hands": 2}, {"obs_type": "vector"}])
def test_pettingzoo_tests(options: dict[str, Any]) -> None:
    for _ in range(5):
        api_test(holdem_v0.env(**options))
    seed_test(lambda: holdem_v0.env(**options), num_cycles=30)
    render_test(lambda **more: holdem_v0.env(**options, **more))


def test_spaces() -> None:
    env = made(players=3)
    assert env.action_space("player_0") == spaces.Discrete(5)
    assert list(env.observation_space("player_0").spaces) == ["rules", "text", "action_mask"]
    env = made(players=3, obs_type="vector")
    assert list(env.observation_space("player_0").spaces) == ["observation", "action_mask"]
    assert env.observation_space("player_0")["observation"] == spaces.Box(0, 1, (111 + 21,), np.float32)


def test_mask_is_empty_out_of_turn() -> None:
    env = made()
    assert env.observe("player_0")["action_mask"].tolist() == [1, 1, 1, 1, 1]
    assert env.observe("player_1")["action_mask"].tolist() == [0, 0, 0, 0, 0]
    env.step(1)
    assert env.observe("player_0")["action_mask"].tolist() == [0, 0, 0, 0, 0]
    assert env.observe("player_1")["action_mask"].tolist() == [0, 1, 1, 1, 1]


def test_rewards_and_infos_at_the_end() -> None:
    env = made("41", deck=DECK)
    assert env.rewards == {"player_0": 100, "player_1": -100}
    assert env.infos == {
        "player_0": {"illegal": 0, "chips": 200, "hands": 1},
        "player_1": {"illegal": 0, "chips": 0, "hands": 1},
    }
    assert all(env.terminations.values())
    assert env.last()[1] == 100


@pytest.mark.parametrize("action", [0, 5, -1, None, "Action: Fold", True])
def test_an_illegal_action_forfeits(action: Any) -> None:
    env = made("1")  # the big blind may check, not fold
    env.step(action)
    assert env.rewards == {"player_0": 2, "player_1": -2}
    assert env.infos["player_1"]["illegal"] in (Failure.ILLEGAL, Failure.UNPARSABLE)
    assert env.infos["player_0"]["illegal"] == 0
    assert not env.observe("player_1")["action_mask"].any()


def test_observations_lie_in_their_spaces_over_whole_matches() -> None:
    for obs_type in ("text", "vector"):
        env = holdem_v0.env(players=4, hands=5, stack=12, obs_type=obs_type)
        rng = np.random.default_rng(0)
        for seed in range(25):
            env.reset(seed=seed)
            for agent in env.agent_iter():
                for each in env.possible_agents:
                    assert env.observation_space(each).contains(env.observe(each))
                _, _, termination, _, _ = env.last()
                mask = env.observe(agent)["action_mask"]
                env.step(None if termination else int(rng.choice(np.flatnonzero(mask))))


def test_the_vector() -> None:
    env = made("12 1", deck=DECK, obs_type="vector")
    vector = env.observe("player_0")["observation"]
    assert sorted(np.flatnonzero(vector[:52])) == sorted(parse_cards("AhAd"))
    assert sorted(np.flatnonzero(vector[52:104])) == sorted(parse_cards("2c7d9h"))
    # Street; pot 8 of 200 chips, nothing to call, hand 1 of 1; the button; 96 chips left each; both in the hand.
    numbers = [0, 1, 0, 0, 8 / 200, 0, 1, 1, 0, 0.48, 0.48, 1, 1]
    # Put in on each street by both: 4 and 4 before the flop.
    numbers += [0.02, 0.02, 0, 0, 0, 0, 0, 0]
    assert vector[104:] == pytest.approx(numbers)


def test_the_vector_is_seen_from_the_own_seat() -> None:
    env = made("1", players=3, obs_type="vector")  # button and first to act is player_0, who calls 2 of 300
    tail = 111
    for seat, (place, put_in) in enumerate([((1, 0, 0), (2, 1, 2)), ((0, 1, 0), (1, 2, 2)), ((0, 0, 1), (2, 2, 1))]):
        vector = env.observe(f"player_{seat}")["observation"]
        assert tuple(vector[tail : tail + 3]) == place
        assert vector[tail + 9 : tail + 12] == pytest.approx([chips / 300 for chips in put_in])
        assert vector[109] == pytest.approx((1 if seat == 1 else 0) / 300)


def test_vectors_distinguish_positions_of_the_player_to_act() -> None:
    courses = ("", "12", "13", "14", "111", "112", "113", "11111", "1111111")
    seen = set()
    for actions in courses:
        env = made(actions, deck=DECK, obs_type="vector")
        assert env.agent_selection == "player_0"
        seen.add(env.observe("player_0")["observation"].tobytes())
    assert len(seen) == len(courses)


def test_rendering() -> None:
    env = holdem_v0.env(render_mode="ansi", deck=DECK, button=0)
    env.reset(seed=0)
    assert env.render().startswith("player_0 (button): Ah Ad, 99 left, 1 in *\nplayer_1: Kh Kd, 98 left, 2 in\n")


@pytest.mark.parametrize(
    "options", [{"hint": 1}, {"cot": "yes"}, {"language": "de"}, {"obs_type": "pixels"}, {"players": 1}]
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="expected"):
        holdem_v0.env(**options)


def test_the_documentation_names_every_option_with_its_default() -> None:
    page = inspect.getdoc(env_module)
    assert page is not None
    arguments = page[page.index("### Arguments") : page.index("### Observation Space")]
    for name, parameter in list(inspect.signature(holdem_v0.raw_env.__init__).parameters.items())[1:]:
        default = parameter.default
        written = f'{name}="{default}"' if isinstance(default, str) else f"{name}={default}"
        assert f"`{written}`" in arguments, name


def test_the_vector_is_as_large_as_documented() -> None:
    page = inspect.getdoc(env_module)
    assert page is not None
    found = re.search(r"shape \((\d+) \+ (\d+) \* players,\)", page)
    assert found is not None
    for players in (2, 6):
        shape = made(players=players, obs_type="vector").observe("player_0")["observation"].shape
        assert shape == (int(found[1]) + int(found[2]) * players,)


def test_actions_in_order() -> None:
    assert [action.name for action in Action] == ["FOLD", "CHECK_CALL", "RAISE_HALF_POT", "RAISE_FULL_POT", "ALL_IN"]
