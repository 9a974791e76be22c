"""The parallel form: an action for each agent in the match."""

from typing import Any

import pytest
from pettingzoo.utils.env_logger import EnvLogger

from tests.llmarena_envs.testing.duel import parallel_duel


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"player_0": 1}, r"expected one for each of \['player_0', 'player_1'\], got missing: \['player_1'\]$"),
        ({}, r"missing: \['player_0', 'player_1'\]$"),
        ({"player_0": 1, "player1": 1}, r"missing: \['player_1'\]; not in the match: \['player1'\]$"),
    ],
)
def test_missing_agents_are_named_without_a_step(actions: dict[str, Any], message: str) -> None:
    env = parallel_duel()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=message):
        env.step(actions)
    assert env.unwrapped.game.rounds == ()
    env.step({"player_0": 1, "player_1": 2})
    assert env.unwrapped.game.rounds == ((1, 2),)


def test_actions_of_others_are_ignored_as_in_pettingzoo() -> None:
    env = parallel_duel()
    env.reset(seed=0)
    env.step({"player_1": 2, "player_0": 1, "player_2": 1})
    assert env.unwrapped.game.rounds == ((1, 2),)


@pytest.mark.parametrize("actions", [{}, {"player_0": 0, "player_1": 0}])
def test_actions_after_the_end_only_warn(actions: dict[str, Any]) -> None:
    env = parallel_duel()
    env.reset(seed=0)
    env.step({"player_0": None, "player_1": 0})
    assert env.agents == []
    EnvLogger.flush()
    EnvLogger.suppress_output()
    assert env.step(actions) == ({}, {}, {}, {}, {})
    assert any("after" in str(message) for message in EnvLogger.mqueue)
    EnvLogger.unsuppress_output()
    assert env.reset(seed=0)[0].keys() == {"player_0", "player_1"}
