import json
import sys

import numpy as np
import pytest

from benchmarks import train_connect_four
from benchmarks.train_connect_four import Options, SelfPlay, play_random, run
from llmarena_envs import connect_four_v0


def environment():
    env = SelfPlay(connect_four_v0.env(obs_type="vector"))
    observation, info = env.reset(seed=0)
    return env, observation, info


def test_learner_sees_positions_from_the_movers_side():
    env, observation, info = environment()
    assert observation.shape == (6, 7, 2)
    assert not observation.any()
    assert info == {}
    observation, reward, terminated, truncated, _ = env.step(np.int64(3))
    assert observation[5, 3].tolist() == [0, 1]  # X's disc is the opponent's now
    observation, reward, terminated, truncated, _ = env.step(np.int64(3))
    assert observation[5, 3].tolist() == [1, 0]
    assert observation[4, 3].tolist() == [0, 1]
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_the_reward_is_the_movers():
    env, _, _ = environment()
    for column in (0, 1, 0, 1, 0, 1):
        assert env.step(np.int64(column))[1:3] == (0.0, False)
    assert env.step(np.int64(0))[1:3] == (1.0, True)
    env.reset()
    for column in (6, 0, 1, 0, 1, 0, 1):
        env.step(np.int64(column))
    assert env.step(np.int64(0))[1:3] == (1.0, True)  # the second player wins: its reward, not the first one's


def test_masks_follow_the_position():
    env, _, _ = environment()
    for _ in range(6):
        assert env.action_masks().tolist() == [True] * 7
        env.step(np.int64(2))
    assert env.action_masks().tolist() == [True, True, False, True, True, True, True]


class Central:
    """Takes the most central open column, which beats random moves more often than not."""

    def __init__(self):
        self.seats = []

    def predict(self, observation, action_masks, deterministic):
        self.seats.append(int(observation.sum()) % 2)
        return min(np.flatnonzero(action_masks), key=lambda column: abs(column - 3)), None


def test_matches_against_random_count_both_seats():
    model = Central()
    result = play_random(model, 20, seed=0)
    assert sum(result.values()) == 20
    assert result["won"] > 10
    assert {0, 1} == set(model.seats)
    assert play_random(Central(), 20, seed=0) == result


@pytest.mark.slow
def test_the_smoke_run(tmp_path, monkeypatch, capsys):
    path = tmp_path / "result.json"
    monkeypatch.setattr(sys, "argv", ["train_connect_four", "--smoke", "--json", str(path)])
    train_connect_four.main()
    result = json.loads(path.read_text())
    assert result == json.loads(capsys.readouterr().out)
    assert result["won"] + result["drawn"] + result["lost"] == result["options"]["matches"] == 4
    assert result["steps"] == result["options"]["steps"] == 64


@pytest.mark.slow
def test_training_follows_its_seed():
    options = Options(seed=3, smoke=True)
    first, second = run(options), run(options)
    del first["seconds"], second["seconds"]
    assert first == second
