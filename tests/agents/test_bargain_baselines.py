"""Players of bargaining."""

import itertools

import numpy as np
import pytest

from agents.play import play
from agents.registry import baselines, make_policy
from llmarena_envs import bargain_v0
from llmarena_envs.bargain.game import Deal, Offer
from llmarena_envs.bargain.grammar import read_action
from llmarena_envs.bargain.scenarios import plans, worth
from llmarena_envs.core.options import OptionError

NAMES = ("concession", "fair", "random")
INSTANCE = [[1, 2, 3], [8, 1, 0], [4, 0, 2]]


def view_after(*offers, instance=INSTANCE, **options):
    env = bargain_v0.raw_env(instance=instance, **options)
    env.reset(seed=0)
    for counts in offers:
        env.game.apply((Offer(counts),))
    return env.view(env.game.to_move[0])


def answers(name, view, number=30):
    policy = make_policy(name, "bargain_v0")
    policy.reset(view.agent, 0)
    return [read_action(policy(view), view.agent) for _ in range(number)]


def play_many(first, second, matches):
    """Returns mean rewards and the share of agreements over seeded matches."""
    env = bargain_v0.raw_env()
    policies = {"player_0": make_policy(first, "bargain_v0"), "player_1": make_policy(second, "bargain_v0")}
    total, agreements = np.zeros(2), 0.0
    for seed in range(matches):
        env.reset(seed=seed)
        for number, (agent, policy) in enumerate(policies.items()):
            policy.reset(agent, 2 * seed + number)
        while not env.terminations["player_0"]:
            agent = env.agent_selection
            env.step(policies[agent](env.view(agent)))
            total += list(env.rewards.values())
        assert not any(info["illegal"] for info in env.infos.values())
        agreements += env.infos["player_0"]["agreement"]
    return total / matches, agreements / matches


def test_the_names():
    assert set(NAMES) <= baselines("bargain_v0").keys()


def test_fair_asks_for_about_half_and_accepts_no_less():
    asked = {action.counts for action in answers("fair", view_after(instance=[[1, 2, 3], [2, 1, 2], [4, 0, 2]]))}
    assert {worth(counts, (2, 1, 2)) for counts in asked} == {5}
    # A hat is worth 8 and a ball 1: 2 is as near to half as 8.
    asked = {action.counts for action in answers("fair", view_after())}
    assert {worth(counts, (8, 1, 0)) for counts in asked} <= {2, 8} and len(asked) > 2
    assert answers("fair", view_after((1, 1, 1)), 1)[0] != Deal()
    assert answers("fair", view_after((1, 2, 0)), 1) == [Deal()]


def test_concession_lowers_its_demand_by_one_a_round_down_to_half():
    instance = [[1, 2, 3], [2, 1, 2], [1, 3, 1]]
    offers, demanded = [], []
    for _ in range(8):
        (action,) = answers("concession", view_after(*offers, instance=instance), 1)
        demanded.append(worth(action.counts, (2, 1, 2)))
        offers += [action.counts, (1, 2, 3)]
    assert demanded == [10, 9, 8, 7, 6, 5, 5, 5]


def test_concession_asks_for_no_worthless_items():
    assert {action.counts for action in answers("concession", view_after())} == {(1, 2, 0)}


def test_concession_accepts_what_its_next_demand_would_give():
    # The offers leave player_1, who values 4, 0, 2, first 6 and then 10.
    assert answers("concession", view_after((1, 0, 0)), 1)[0] != Deal()
    assert answers("concession", view_after((0, 2, 0)), 1) == [Deal()]
    in_round_five = [(1, 2, 3)] * 8
    assert answers("concession", view_after(*in_round_five, (1, 0, 0)), 1) == [Deal()]
    in_round_four = [(1, 2, 3)] * 6
    assert answers("concession", view_after(*in_round_four, (1, 0, 0)), 1)[0] != Deal()


def test_random_accepts_one_time_in_ten_and_never_without_an_offer():
    actions = answers("random", view_after((1, 0, 0)), 3000)
    accepted = sum(isinstance(action, Deal) for action in actions)
    assert 240 < accepted < 360
    assert {action.counts for action in actions if isinstance(action, Offer)} == set(plans((1, 2, 3)))
    assert not any(isinstance(action, Deal) for action in answers("random", view_after(), 300))
    assert all(isinstance(action, Deal) for action in answers("random:accept=1", view_after((1, 0, 0))))


def test_a_probability_is_checked():
    with pytest.raises(OptionError, match="accept"):
        make_policy("random:accept=2", "bargain_v0")


@pytest.mark.parametrize("options", [{}, {"language": "zh"}, {"obs_type": "vector"}])
def test_replies_are_in_the_published_grammar(options):
    env = bargain_v0.raw_env(**options)
    for name, seed in itertools.product(NAMES, range(10)):
        policy = make_policy(name, "bargain_v0")
        env.reset(seed=seed)
        for agent in env.agents:
            policy.reset(agent, seed)
        while not env.terminations["player_0"]:
            agent = env.agent_selection
            reply = policy(env.view(agent))
            action = env.parse(reply, agent)
            assert env.format(action, agent) == reply
            env.step(action)
        assert not any(info["illegal"] for info in env.infos.values())


def test_a_match_of_the_harness_is_played_to_its_end():
    players = {"player_0": make_policy("fair", "bargain_v0"), "player_1": make_policy("concession", "bargain_v0")}
    episode = play(bargain_v0.env(), players, seed=3)
    assert episode.infos["player_0"]["agreement"] == 1
    assert episode.rewards == {agent: info["own_total"] for agent, info in episode.infos.items()}
    assert episode.digest == play(bargain_v0.env(), players, seed=3).digest


def test_concession_earns_more_than_fair_and_fair_more_than_random():
    earned = {name: [] for name in NAMES}
    for first, second in itertools.permutations(NAMES, 2):
        means, agreements = play_many(first, second, 100)
        assert agreements > 0.95
        earned[first].append(means[0])
        earned[second].append(means[1])
    mean = {name: np.mean(values) for name, values in earned.items()}
    assert mean["concession"] > mean["fair"] + 1 > mean["random"] + 2
