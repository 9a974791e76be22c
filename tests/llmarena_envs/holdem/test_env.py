"""The PettingZoo environment."""

from typing import Any

import numpy as np
import pytest

from llmarena_envs import holdem_v0
from llmarena_envs.core.options import OptionError
from llmarena_envs.holdem.cards import parse_cards

DECK = "AhAd KhKd 2c 7d 9h 4s Jc"


def made(actions: str = "", **options: Any) -> holdem_v0.raw_env:
    """Returns an environment after some actions, given by their numbers."""
    env = holdem_v0.raw_env(**{"button": 0, **options})
    env.reset(seed=0)
    for action in actions.replace(" ", ""):
        env.step(int(action))
    return env


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


@pytest.mark.parametrize(
    "options", [{"hint": 1}, {"cot": "yes"}, {"language": "de"}, {"obs_type": "pixels"}, {"players": 1}]
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="expected"):
        holdem_v0.env(**options)
