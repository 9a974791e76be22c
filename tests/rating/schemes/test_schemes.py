"""Schedule and stopping of each scheme, by the environment's declaration and the run's options."""

import itertools
import re
from collections import Counter

import pytest

from llmarena_envs.core.declaration import Declaration, HiddenRole
from llmarena_envs.core.options import OptionError
from rating.schedules.batches import Stop
from rating.schemes.duels import Duels
from rating.schemes.registry import SCHEMES
from rating.schemes.stopping import CountRule, StopRule
from tests.rating.made_schemes import made_setting

HIDDEN = HiddenRole("part", {"wolf": 2, "sheep": 1}, option="wolf")


def scheme(name, agents, policies=("a", "b", "random"), *, matches=30, limit=70, opponent="", **declared):
    setting = made_setting(
        agents,
        policies,
        declaration=Declaration(scheme=name, **declared),
        rule=StopRule(max_matches=limit),
        matches=matches,
        opponent=opponent,
    )
    return SCHEMES[name](setting)


def agents(count):
    return tuple(f"player_{index}" for index in range(count))


@pytest.mark.parametrize(
    ("compared", "rule"),
    [
        (scheme("duels", agents(2)), StopRule(max_matches=70)),
        (scheme("mean_reward", agents(3)), CountRule(30, 70)),
        (scheme("mean_reward", agents(2), matches=90), CountRule(70, 70)),
        (scheme("field", agents(2)), CountRule(30, 70, "random")),
        # Of five matches of each of three policies one is with itself: the other four come along.
        (scheme("cooperation", agents(2)), CountRule(150, 350)),
        (scheme("cooperation", agents(4)), CountRule(30, 70)),
        (scheme("roles", ("writer_0", "editor_0")), CountRule(30, 70)),
        # The fixed opponent has the first role in half as many matches as the others are scheduled.
        (scheme("roles", agents(4), hidden_role=HIDDEN), CountRule(30, 140, "random")),
        (scheme("roles", agents(4), ("a", "b"), hidden_role=HIDDEN), CountRule(30, 140, "a")),
        (scheme("roles", agents(4), hidden_role=HIDDEN, opponent="b"), CountRule(30, 140, "b")),
    ],
)
def test_scheme_rule_follows_the_setting(compared, rule):
    assert compared.end() == rule


@pytest.mark.parametrize(
    ("compared", "tested"),
    [
        (scheme("mean_reward", agents(2), matches=100, limit=400), lambda match, name: name in match.policies),
        (scheme("cooperation", agents(2), matches=100, limit=400), lambda match, name: set(match.policies) == {name}),
        (
            scheme("roles", agents(5), matches=100, limit=400, hidden_role=HIDDEN),
            lambda match, name: (
                match.policies[match.options["wolf"]] == name and (name == "random" or "random" in match.policies)
            ),
        ),
    ],
)
def test_scheme_plays_the_requested_matches(compared, tested):
    schedule, matches = compared.schedule(), []
    while not isinstance(batch := schedule.next_batch(), Stop):
        matches += batch
    counts = {name: sum(tested(match, name) for match in matches) for name in ("a", "b")}
    assert counts == {"a": 100, "b": 100}


def test_roles_hidden_role_goes_to_every_policy_and_seat():
    compared = scheme("roles", agents(4), hidden_role=HIDDEN, opponent="b")
    wolves = Counter()
    for match in itertools.islice(compared.schedule().next_batch(), 1000):
        seat = match.options["wolf"]
        assert len({name for index, name in enumerate(match.policies) if index != seat}) == 1
        wolves[match.policies[seat], seat] += 1
    assert {wolves["a", seat] for seat in range(4)} == {wolves["random", seat] for seat in range(4)}
    assert len(wolves) == 12


def test_roles_opponent_outside_the_pool_is_refused():
    with pytest.raises(OptionError, match=r"opponent: expected one of .*got 'c'"):
        scheme("roles", agents(4), hidden_role=HIDDEN, opponent="c")


@pytest.mark.parametrize(
    ("changes", "playing"),
    [
        ({"policies": "ab"}, "2 (a, b)"),
        ({"policies": "abc", "withdrawn": frozenset("c")}, "2 (a, b)"),
        ({"policies": "abc", "newcomers": (("c",),)}, "2 (a, b)"),
        ({"policies": "abc", "newcomers": (("c",),), "count": 8, "has_ended": True}, ""),
        ({"policies": "abc", "newcomers": (("c",),), "count": 8, "starts": (6,)}, ""),
    ],
)
def test_duels_top_is_below_the_policies_of_the_current_phase(changes, playing):
    setting = made_setting(rule=StopRule(rule="top=2"), **changes)
    if not playing:
        Duels(setting)
        return
    with pytest.raises(OptionError, match=rf"K below the number of policies, {re.escape(playing)}; got top=2"):
        Duels(setting)
