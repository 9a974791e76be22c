from dataclasses import replace

import numpy as np
import pytest

from benchmarks.performance.transitivity import Setting, play
from rating.stats.bradley_terry import Comparisons, compare, standings
from rating.stats.transitivity import Beat, diagnose
from tests.rating.made_outcomes import duel

STRENGTHS = np.linspace(-350, 350, 10)


def round_robin(rng, strengths, deals, **made):
    return play(Setting("", strengths, deals, **made), rng)


def test_one_scale_leaves_the_best_rated_policy_alone_in_the_mix():
    made = round_robin(np.random.default_rng(1), STRENGTHS, 10, ties=0.3)
    found = diagnose(made)
    assert not found.flagged
    assert found.cycles == ()
    assert "no sign" in found.notes()[0]
    fitted = standings(made).fitted
    best = fitted.policies[np.argmax(fitted.ratings)]
    assert (found.nash[0].policy, found.nash[0].weight, found.nash[0].skill) == (best, 1.0, 0.0)
    gaps = [row.rating - fitted.ratings.max() for row in found.nash]
    assert [row.skill for row in found.nash] == pytest.approx(gaps, abs=15)
    assert {row.policy: row.rating for row in found.nash} == dict(zip(fitted.policies, fitted.ratings, strict=True))


def test_where_every_first_seat_wins_one_scale_explains_all():
    pairs = [(one, two) for one in range(6) for two in range(6) if one != two] * 20
    first, second = np.array(pairs).T
    made = Comparisons(tuple("abcdef"), first, second, np.ones(len(first)), np.repeat(np.arange(20), 30))
    found = diagnose(made)
    assert not found.flagged and found.fit.p_value == 1


@pytest.mark.parametrize(("p", "told"), [(0.02, "a sign that"), (0.2, "no sign that")])
def test_a_weak_sign_is_called_one(p, told):
    found = diagnose(round_robin(np.random.default_rng(1), STRENGTHS, 10))
    (note,) = replace(found, flagged=False, fit=replace(found.fit, p_value=p)).notes()
    assert note.startswith(told) and f"p = {p:.3f}" in note


def test_a_circle_is_named_with_its_results():
    made = round_robin(np.random.default_rng(1), np.zeros(3), 20, circle=300)
    made = replace(made, policies=("paper", "rock", "scissors"))
    found = diagnose(made)
    assert found.flagged
    (cycle,) = found.cycles
    assert [(beat.winner, beat.loser, beat.games) for beat in cycle] == [
        ("paper", "rock", 40),
        ("rock", "scissors", 40),
        ("scissors", "paper", 40),
    ]
    assert all(beat.score > 24 for beat in cycle)
    summary, line = found.notes()
    assert "who wins depends on who meets whom" in summary
    assert line.startswith(f"cycle: paper beats rock ({cycle[0].score:g} of 40), rock beats scissors (")
    assert all(row.weight > 0 for row in found.nash)


def test_the_best_established_circle_comes_first():
    made = round_robin(np.random.default_rng(1), STRENGTHS[[4, 5, 6, 0, 1, 8, 9]], 40, circle=300)
    found = diagnose(made)
    assert found.flagged
    assert {beat.winner for beat in found.cycles[0]} == set(made.policies[:3])
    assert len(found.cycles) <= 3
    assert isinstance(found.cycles[0][0], Beat)


def test_pairs_that_rarely_met_make_up_no_advantage():
    """One lucky win against a far stronger policy does not put a weak one into the mix."""
    made = round_robin(np.random.default_rng(1), STRENGTHS, 10)
    kept = ~((made.first == 0) & (made.second == 9)) & ~((made.first == 9) & (made.second == 0))
    rest = made.select(kept)
    upset = Comparisons(
        made.policies, *(np.append(*pair) for pair in ((rest.first, 0), (rest.second, 9), (rest.score, 1.0))),
        np.append(rest.cluster, 99),
    )  # fmt: skip
    found = {row.policy: row for row in diagnose(upset).nash}
    assert found["policy 00"].weight == 0
    assert found["policy 00"].skill < -400


def test_the_same_results_in_any_order_give_the_same_diagnosis():
    made = round_robin(np.random.default_rng(1), STRENGTHS, 20, circle=400)
    order = np.random.default_rng(2).permutation(len(made.score))
    assert diagnose(made) == diagnose(made.select(order))


def test_nothing_is_said_of_two_policies():
    assert diagnose(compare([duel(0, "a", "b", 1), duel(1, "b", "a", 1)])) is None
