"""Players of the public goods game."""

import numpy as np
import pytest

from agents.registry import baselines, make_policy
from llmarena_envs import public_goods_v0
from llmarena_envs.core.options import OptionError
from tests.agents.asking import answer

NAME = "public_goods_v0"


def match(names, seed=0, **options):
    """Plays a match and returns the investments of each round and the payoffs."""
    env = public_goods_v0.raw_env(n_players=len(names), **options)
    env.reset(seed=seed)
    policies = {agent: make_policy(name, NAME) for agent, name in zip(env.agents, names, strict=True)}
    for number, (agent, policy) in enumerate(policies.items()):
        policy.reset(agent, 100 * seed + number)
    while not any(env.terminations.values()):
        agent = env.agent_selection
        env.step(answer(policies[agent], env, agent))
    assert not any(info["illegal"] for info in env.infos.values())
    return list(env.game.investments), [env.ending(agent).reward for agent in env.possible_agents]


def test_the_names():
    assert {"random", "free_rider", "full_contributor", "conditional_cooperator", "end_defector"} <= baselines(
        NAME
    ).keys()


@pytest.mark.parametrize(("mode", "later"), [(1, 3), (2, 0)])
def test_conditional_cooperator_invests_mean_or_median_of_others(mode, later):
    investments, _ = match(("conditional_cooperator", "free_rider", "free_rider", "full_contributor"), mode=mode)
    assert [row[0] for row in investments] == [5, *[later] * 4]  # the mean, 10/3, is nearer to 3; the median is 0


@pytest.mark.parametrize("mode", [1, 2])
def test_conditional_cooperator_among_two_rounds_halves_up(mode):
    investments, _ = match(("conditional_cooperator", "free_rider", "full_contributor"), mode=mode, rounds=2)
    assert [row[0] for row in investments] == [5, 5]
    investments, _ = match(("conditional_cooperator", "conditional_cooperator", "free_rider"), mode=mode, rounds=4)
    assert [row[0] for row in investments] == [5, 3, 2, 1]  # halves of 5, 3 and 2, halves up


def test_a_conditional_cooperator_invests_no_more_than_it_owns():
    env = public_goods_v0.raw_env(endowment_mode="initial")
    env.reset(seed=0)
    for investment in (10, 0, 0, 0, 3, 13, 13, 13):
        env.step(investment)
    # It invested all its coins twice, owns 0.3 * 42 = 12.6, and the others invested 13 each.
    assert make_policy("conditional_cooperator", NAME)(env.view("player_0")) == 12


def test_an_end_defector_cooperates_and_stops_in_time():
    group = ("end_defector", "free_rider", "full_contributor", "full_contributor")
    assert [row[0] for row in match(group)[0]] == [10, 7, 7, 7, 0]
    assert [row[0] for row in match(("end_defector:last=4", *group[1:]))[0]] == [10, 0, 0, 0, 0]
    with pytest.raises(OptionError, match="last: expected an integer from 1"):
        make_policy("end_defector:last=0", NAME)


def test_investing_pays_before_the_last_round_with_cooperators():
    others = ("conditional_cooperator",) * 3
    paid = {name: match((name, *others))[1][0] for name in ("free_rider", "end_defector:last=4", "end_defector")}
    assert paid == pytest.approx({"free_rider": 60.8, "end_defector:last=4": 62.8, "end_defector": 57.4})
    assert match((*others, "end_defector"))[1][3] > match(others + others[:1])[1][3]


@pytest.mark.parametrize("options", [{}, {"coin_step": 0.5}, {"endowment_mode": "initial"}, {"mode": 2}])
def test_full_and_zero_contributors(options):
    investments, payoffs = match(("full_contributor", "free_rider"), alpha=1.5, rounds=2, **options)
    assert all(row[1] == 0 and row[0] > 0 for row in investments)
    assert payoffs[1] > payoffs[0]


def test_random_investments_are_spread_over_all_amounts():
    drawn = [amount for seed in range(40) for row in match(("random",) * 4, seed)[0] for amount in row]
    assert set(drawn) == set(range(11)) and abs(np.mean(drawn) - 5) < 0.4


def test_free_riding_pays_in_a_group_and_costs_the_group():
    group = ("free_rider", "conditional_cooperator", "random", "full_contributor")
    means = np.mean([match(group, seed)[1] for seed in range(50)], axis=0)
    assert means[0] > max(means[1:3]) + 15 and min(means[1:3]) > means[3] + 15
    assert match(("free_rider",) * 4)[1] == [50.0] * 4
    assert match(("conditional_cooperator",) * 4)[1] == [55.0] * 4
    assert match(("full_contributor",) * 4)[1] == [60.0] * 4
