"""TextEnv: stages, forfeits, rewards and observations by agent."""

from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from llmarena_envs import bargain_v0, tictactoe_v0
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.options import OptionError
from tests.llmarena_envs.testing.duel import DuelEnv, duel, parallel_duel


def _duel(seed: int = 0, **options: Any) -> DuelEnv:
    env: DuelEnv = duel(**options).unwrapped
    env.reset(seed=seed)
    return env


def test_a_simultaneous_stage_is_resolved_when_all_have_acted() -> None:
    env = _duel()
    env.step(2)
    assert (env.agent_selection, env.game.rounds, env.rewards) == ("player_1", (), {"player_0": 0.0, "player_1": 0.0})
    env.step(0)
    assert (env.agent_selection, env.game.rounds) == ("player_0", ((2, 0),))
    assert sorted(env.rewards.values()) == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("actions", "illegal", "rewards"),
    [
        ((None, 0), (Failure.UNPARSABLE, Failure.OK), (-1.0, 1.0)),
        ((0, 7), (Failure.OK, Failure.ILLEGAL), (1.0, -1.0)),
        ((3.5, -1), (Failure.UNPARSABLE, Failure.ILLEGAL), (-1.0, -1.0)),
    ],
)
def test_offences_in_a_stage_end_the_match_when_it_is_complete(actions: Any, illegal: Any, rewards: Any) -> None:
    env = _duel()
    for action in actions:
        env.step(action)
    assert tuple(info["illegal"] for info in env.infos.values()) == tuple(map(int, illegal))
    assert tuple(env.rewards.values()) == rewards
    assert env.game.rounds == ()
    delivered = []
    for _ in range(2):
        delivered.append(env.last()[1:3])
        assert env.observe(env.agent_selection)["action_mask"].tolist() == [0, 0, 0]
        env.step(None)
    assert delivered == [(reward, True) for reward in rewards]
    assert env.agents == []


def test_reset_without_seed_continues_the_generator() -> None:
    env, twin = _duel(5), _duel(5)
    cards = []
    for each in (env, twin):
        each.reset()
        cards.append(each.game.cards)
    assert cards[0] == cards[1]
    assert len({_duel(seed).game.cards for seed in range(20)}) > 10


@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_seed_can_be_a_numpy_integer(kind: Any) -> None:
    env = duel()
    env.reset(seed=kind(5))
    assert env.unwrapped.game.cards == _duel(5).game.cards


def test_spaces_are_dictionaries_too_as_in_pettingzoo() -> None:
    for env in (duel(), duel().unwrapped, parallel_duel().unwrapped):
        assert list(env.observation_spaces) == list(env.action_spaces) == env.possible_agents
        for agent in env.possible_agents:
            assert env.observation_spaces[agent] is env.observation_space(agent)
            assert env.action_spaces[agent] is env.action_space(agent)


def test_unknown_agents_and_options_are_errors() -> None:
    env = _duel()
    with pytest.raises(KeyError, match="expected one of"):
        env.observe("player_7")
    with pytest.raises(
        OptionError, match="obs_type: expected one of 'text', 'vector', got 'vectr'; did you mean 'vector'"
    ):
        duel(obs_type="vectr")
    with pytest.raises(OptionError, match="render_mode: expected one of 'ansi', 'human'"):
        duel(render_mode="rgb_array")


def test_render_without_a_mode_warns() -> None:
    with pytest.warns(UserWarning, match="render_mode='ansi'"):
        assert _duel().render() is None


def test_human_mode_prints_after_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    env = _duel(render_mode="human")
    env.step(0)
    env.step(1)
    assert capsys.readouterr().out == f"{env.game.cards} ()\n{env.game.cards} ((0, 1),)\n"


def test_players_text_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    env = bargain_v0.env(render_mode="human")
    env.reset(seed=0)
    env.step("\x1b[2J\u202egone\nplayer_0: 1 hats 0 balls 0 apples")
    printed = capsys.readouterr().out
    assert r"\x1b[2J\u202egone" in printed
    assert not {"\x1b", "\u202e"} & set(printed)


@pytest.mark.parametrize("action", [True, np.True_, 1.0, "4", None])
def test_only_integers_are_discrete_actions(action: Any) -> None:
    env = tictactoe_v0.env().unwrapped
    env.reset(seed=0)
    with pytest.raises(InvalidReply, match="expected an integer action"):
        env.check_action(action, "player_0")
    env.check_action(np.int8(4), "player_0")
    with pytest.raises(InvalidReply, match="from 1 to 3"):
        env.check_action(9, "player_0")


@pytest.mark.parametrize(("length", "kind"), [(100_000, Failure.OK), (100_001, Failure.UNPARSABLE)])
def test_text_actions_have_at_most_a_hundred_thousand_characters(length: int, kind: Failure) -> None:
    env = bargain_v0.env()
    env.reset(seed=0)
    end = "\nplayer_0: 0 hats 0 balls 0 apples"
    action = " " * (length - len(end)) + end
    assert env.action_space("player_0").contains(action) == (kind is Failure.OK)
    env.step(action)
    assert env.infos["player_0"]["illegal"] == kind


def test_text_observations_have_at_most_a_million_characters() -> None:
    space = _duel().observation_space("player_0")
    for name in ("rules", "text"):
        assert space[name].contains("字" * 1_000_000)
        assert not space[name].contains("字" * 1_000_001)


def test_drawing_is_empty_before_the_first_match() -> None:
    env = tictactoe_v0.raw_env()
    with pytest.raises(ResetNeeded, match="reset"):
        env.draw()
    with pytest.raises(KeyError, match="nobody"):
        env.draw("nobody")
    env.reset(seed=0)
    for action in (0, 3, 1, 4, 2, None, None):
        env.step(action)
    assert not env.agents
    assert "wins" in env.draw("player_0")


def test_step_does_not_reparse(monkeypatch):
    env = bargain_v0.raw_env()
    env.reset(seed=0)
    read, parse = [], env.codec.parse
    monkeypatch.setattr(env.codec, "parse", lambda reply, view: read.append(reply) or parse(reply, view))
    action = env.parse("I open.\nplayer_0: 0 hats", "player_0")
    env.step(action)
    assert len(read) == 1
    env.parse("player_1: 0 hats", "player_1")
    env.step("player_1: 0 balls")  # another action than the one parsed
    assert len(read) == 3 and env.game.offers[1].counts == (0, 0, 0)
