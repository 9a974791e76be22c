import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from llmarena_envs.core.order import OrderWrapper
from tests.llmarena_envs.testing.duel import duel


@pytest.mark.parametrize(
    "name", ["rewards", "terminations", "truncations", "infos", "agent_selection", "num_agents", "agents"]
)
def test_attributes_need_a_reset(name: str) -> None:
    with pytest.raises(AttributeError, match=f"{name} cannot be accessed before reset"):
        getattr(duel(), name)


@pytest.mark.parametrize(
    "call",
    [
        lambda env: env.step(0),
        lambda env: env.last(),
        lambda env: env.observe("player_0"),
        lambda env: env.render(),
        lambda env: env.state(),
        lambda env: next(iter(env.agent_iter())),
    ],
)
def test_calls_before_reset_are_errors(call: Callable[[Any], Any]) -> None:
    with pytest.raises(AssertionError, match=r"reset\(\) needs to be called before"):
        call(duel())


def test_what_needs_no_reset_is_there_before() -> None:
    env = duel()
    assert env.possible_agents == ["player_0", "player_1"]
    assert env.metadata["name"] == "duel_v0"
    assert env.action_space("player_0").n == 3
    assert env.max_num_agents == 2
    assert str(env) == "OrderWrapper<duel_v0>"


def test_order_wrapper_delegates_all_attributes() -> None:
    env = duel(render_mode="ansi")
    env.reset(seed=1)
    raw = env.unwrapped
    assert not isinstance(raw, OrderWrapper)
    assert env.agents is raw.agents
    assert env.rewards is raw.rewards
    assert env.infos is raw.infos
    assert env.agent_selection == raw.agent_selection == "player_0"
    assert env.last()[1:] == raw.last()[1:]
    assert env.last()[0]["text"] == raw.observe("player_0")["text"]
    assert env.last(observe=False)[0] is None
    assert env.render() == raw.render()
    assert env.num_agents == 2
    env.close()


def test_a_loop_over_agents_must_step() -> None:
    env = duel()
    env.reset(seed=0)
    turns = env.agent_iter()
    assert next(turns) == "player_0"
    with pytest.raises(AssertionError, match=r"expected step\(\) or reset\(\) between two turns"):
        next(turns)


def test_a_loop_over_agents_ends_with_the_match_or_its_limit() -> None:
    env = duel()
    env.reset(seed=0)
    played = []
    for agent in env.agent_iter():
        played.append(agent)
        env.step(None if env.last()[2] else 1)
    assert played == ["player_0", "player_1"] * 4
    env.reset(seed=0)
    played = []
    for agent in env.agent_iter(3):
        played.append(agent)
        env.step(1)
    assert played == ["player_0", "player_1", "player_0"]


def test_a_step_after_the_end_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    env = duel()
    env.reset(seed=0)
    env.step(None)
    env.step(0)
    env.step(None)
    env.step(None)
    env.step(None)
    assert "step() called after all agents are terminated" in caplog.text


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_the_order_is_checked_in_copies_too(duplicate: Callable[[Any], Any]) -> None:
    env = duel()
    with pytest.raises(AttributeError):
        _ = duplicate(env).agents
    env.reset(seed=0)
    assert duplicate(env).agents == env.agents


def test_private_attributes_stay_private() -> None:
    env = duel()
    env.reset(seed=0)
    with pytest.raises(AttributeError, match="private"):
        _ = env._pending
