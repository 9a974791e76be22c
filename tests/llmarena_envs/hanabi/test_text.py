import numpy as np
import pytest

from llmarena_envs import hanabi_v0
from llmarena_envs.core.options import OptionError
from llmarena_envs.hanabi.text import HanabiCodec
from llmarena_envs.hanabi.variant import Variant
from tests.llmarena_envs.hanabi.positions import FULL, random_game


def codec(language="en", hint=True, cot=False, **options):
    return HanabiCodec(Variant(**options), language, hint, cot)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_history_comes_first_for_a_common_prefix(language):
    writer = codec(language, **FULL)
    seen = {}
    for game in random_game(Variant(**FULL), np.random.default_rng(2)):
        for agent in game.agents:
            lines = writer.observation(game.view(agent)).splitlines()
            past = lines[: 2 + len(game.history)]
            if len(game.history) > 1:
                assert past[: len(seen[agent])] == seen[agent]
            if game.history:
                seen[agent] = past


@pytest.mark.parametrize(
    "options", [{"hint": 1}, {"cot": "yes"}, {"language": "fr"}, {"players": 9}, {"obs_type": "x"}]
)
def test_options_are_checked(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        hanabi_v0.env(**options)
