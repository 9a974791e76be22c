"""The space of bargaining scenarios and its sampling."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from llmarena_envs.bargain.scenarios import (
    LEWIS_TOTALS,
    Scenario,
    all_plans,
    check_scenario,
    draw_scenario,
    plan_numbers,
    plans,
    scenarios,
    worth,
)
from llmarena_envs.core.options import OptionError

SOURCES = {"openspiel": (5793, 31, 5, 96), "lewis": (5295, 28, 4, 84)}


@pytest.mark.parametrize("source", SOURCES)
def test_the_space_has_the_published_size(source):
    size, pools, greatest, plan_count = SOURCES[source]
    space = scenarios(source)
    assert len(space) == len(set(space)) == size
    assert len({scenario.counts for scenario in space}) == pools
    assert max(max(scenario.counts) for scenario in space) == greatest
    assert len(all_plans(source)) == plan_count


@pytest.mark.parametrize("source", SOURCES)
def test_every_scenario_is_admissible(source):
    for counts, (ours, theirs) in scenarios(source):
        assert min(counts) >= 1 and 5 <= sum(counts) <= 7
        assert worth(counts, ours) == worth(counts, theirs) == 10
        assert min(*ours, *theirs) >= 0
        assert all(a or b for a, b in zip(ours, theirs, strict=True))
        assert any(a and b for a, b in zip(ours, theirs, strict=True))


def test_the_space_is_closed_under_exchange_of_the_sides():
    space = set(scenarios("openspiel"))
    assert all(Scenario(counts, values[::-1]) in space for counts, values in space)


@pytest.mark.needs("pyspiel")
def test_the_instances_of_open_spiel_lie_in_the_space():
    import pyspiel

    space = set(scenarios("openspiel"))
    instances = pyspiel.load_game("bargaining").all_instances()
    assert len(instances) == 1000
    for instance in instances:
        ours, theirs = (tuple(values) for values in instance.values)
        assert Scenario(tuple(instance.pool), (ours, theirs)) in space


def draws(source, number, seed=11):
    rng = np.random.default_rng(seed)
    return Counter(draw_scenario(source, rng) for _ in range(number))


def test_openspiel_scenarios_are_drawn_uniformly():
    drawn = draws("openspiel", 60_000)
    counts = [drawn[scenario] for scenario in scenarios("openspiel")]
    assert stats.chisquare(counts).pvalue > 0.001
    totals = Counter(sum(scenario.counts) for scenario in scenarios("openspiel"))
    of_totals = [sum(n for scenario, n in drawn.items() if sum(scenario.counts) == total) for total in totals]
    assert stats.chisquare(of_totals, np.array(list(totals.values())) / 5793 * 60_000).pvalue > 0.001


def test_lewis_scenarios_are_drawn_as_in_the_dialogues():
    number = 60_000
    drawn = draws("lewis", number)
    totals = [sum(n for scenario, n in drawn.items() if sum(scenario.counts) == total) for total in LEWIS_TOTALS]
    assert stats.chisquare(totals, np.array(list(LEWIS_TOTALS.values())) * number).pvalue > 0.001
    of_a_kind = Counter()
    for scenario, times in drawn.items():
        for count in scenario.counts:
            of_a_kind[count] += times / 3 / number
    published = {1: 0.410, 2: 0.321, 3: 0.200, 4: 0.069}
    assert of_a_kind.keys() == published.keys()
    assert all(abs(of_a_kind[count] - share) < 0.008 for count, share in published.items())


def test_lewis_counts_and_values_are_uniform_within_each_step():
    drawn = draws("lewis", 60_000)
    pools = Counter()
    for scenario, times in drawn.items():
        pools[scenario.counts] += times
    for total in LEWIS_TOTALS:
        assert stats.chisquare([times for counts, times in pools.items() if sum(counts) == total]).pvalue > 0.001
    (counts, _), *_ = pools.most_common(1)
    within = [drawn[scenario] for scenario in scenarios("lewis") if scenario.counts == counts]
    assert stats.chisquare(within).pvalue > 0.001


def test_plans_are_all_parts_of_the_items():
    assert plans((1, 0, 2)) == ((0, 0, 0), (0, 0, 1), (0, 0, 2), (1, 0, 0), (1, 0, 1), (1, 0, 2))


@pytest.mark.parametrize("source", SOURCES)
def test_plans_are_numbered_in_ascending_order(source):
    numbers = plan_numbers(source)
    assert list(numbers) == sorted(numbers) and list(numbers.values()) == list(range(len(numbers)))
    assert all(plan in numbers for scenario in scenarios(source) for plan in plans(scenario.counts))


@pytest.mark.parametrize(
    "instance",
    [
        [[1, 2, 3], [8, 1, 0]],
        [[1, 2, 3], [8, 1, 0], [4, 0, 3]],
        [[0, 3, 3], [8, 1, 0], [4, 0, 2]],
        [[1, 1, 1], [8, 1, 1], [4, 4, 2]],
        [[1, 2, 3], [8, 1, 0], [8, 1, 0]],
        [[1, 2, 3], [10, 0, 0], [0, 5, 0]],
        [[1, 2, 3], [8.0, 1, 0], [4, 0, 2]],
        [[1, 2, 3], [12, 1, -2], [4, 0, 2]],
        [[1, 2], [8, 1], [4, 2]],
        "1,2,3 8,1,0 4,0,2",
        7,
    ],
)
def test_other_instances_are_refused(instance):
    with pytest.raises(OptionError, match=r"^instance: expected"):
        check_scenario(instance, "openspiel")


def test_an_instance_belongs_to_its_source():
    with pytest.raises(OptionError, match="counts from 1 to 4"):
        check_scenario([[5, 1, 1], [1, 3, 2], [2, 0, 0]], "lewis")
