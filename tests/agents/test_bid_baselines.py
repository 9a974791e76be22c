"""Players of the sealed-bid auction."""

import itertools

import numpy as np
import pytest

from agents.registry import baselines, make_policy
from llmarena_envs import bid_v0
from tests.agents.asking import answer

NAMES = ("half", "random", "truthful")


def auction(valuation, **options):
    bidders = options.get("n_bidders", 2)
    env = bid_v0.raw_env(values=[[valuation] * bidders], **options)
    env.reset(seed=0)
    return env


def view_of(valuation, **options):
    return auction(valuation, **options).view("player_0")


def bid(name, view):
    policy = make_policy(name, "bid_v0")
    policy.reset("player_0", 0)
    return policy(view)


def earnings(first, second, matches, **options):
    """Returns the mean rewards of two players; every match is seeded."""
    env = bid_v0.raw_env(**options)
    policies = {"player_0": make_policy(first, "bid_v0"), "player_1": make_policy(second, "bid_v0")}
    total = np.zeros(2)
    for seed in range(matches):
        env.reset(seed=seed)
        for number, (agent, policy) in enumerate(policies.items()):
            policy.reset(agent, 2 * seed + number)
        while not env.terminations["player_0"]:
            agent = env.agent_selection
            env.step(answer(policies[agent], env, agent))
            total += list(env.rewards.values())
        assert not any(info["illegal"] for info in env.infos.values())
    return total / matches


def test_the_names():
    assert {"random", "truthful", "half", "equilibrium"} <= baselines("bid_v0").keys()


def test_truthful_bids_one_step_below_the_valuation():
    assert bid("truthful", view_of(7.0)) == 699
    assert bid("truthful", view_of(7.0, grid=0.5)) == 13
    assert bid("truthful", view_of(0.01)) == 0


@pytest.mark.parametrize("name", ["half", "equilibrium"])
def test_the_equilibrium_bid_is_rounded_down_to_the_grid(name):
    assert bid(name, view_of(7.01)) == 350
    assert bid(name, view_of(9.0, n_bidders=3)) == 600
    assert bid(name, view_of(3.5, grid=0.5)) == 3
    assert bid(name, view_of(0.01)) == 0


def test_random_bids_are_legal_and_spread():
    policy = make_policy("random", "bid_v0")
    policy.reset("player_0", 1)
    env = auction(1.0)
    bids = [answer(policy, env, "player_0") for _ in range(2000)]
    assert set(bids) == set(range(100)) and abs(np.mean(bids) - 49.5) < 3


@pytest.mark.parametrize(("name", "follows_its_seed"), [("random", True), ("half", False), ("truthful", False)])
def test_players_answer_the_same_for_the_same_seed(name, follows_its_seed):
    policy, env = make_policy(name, "bid_v0"), auction(10.0)

    def bids(seed):
        policy.reset("player_0", seed)
        return [answer(policy, env, "player_0") for _ in range(20)]

    assert bids(1) == bids(1)
    assert (bids(1) != bids(2)) == follows_its_seed


def test_half_earns_more_than_random_and_random_more_than_truthful():
    earned = {name: [] for name in NAMES}
    for first, second in itertools.permutations(NAMES, 2):
        means = earnings(first, second, 800)
        earned[first].append(means[0])
        earned[second].append(means[1])
    mean = {name: np.mean(values) for name, values in earned.items()}
    assert mean["half"] > mean["random"] + 0.2 > mean["truthful"] + 0.4
    assert 0 < mean["truthful"] < 0.01


def test_equilibrium_self_play_earns_the_theoretical_value():
    assert abs(earnings("equilibrium", "half", 4000).mean() - 10 / 6) < 0.08


def test_rounds_are_played_to_their_end():
    assert earnings("half", "random", 100, rounds=5).sum() > 5 * 2
