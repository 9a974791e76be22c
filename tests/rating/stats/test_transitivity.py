"""The transitivity test, cycles and the Nash average."""

from dataclasses import replace

import numpy as np
import pytest

from rating.stats.bradley_terry import Comparisons, compare, standings
from rating.stats.transitivity import Beat, diagnose, lack_of_fit
from research.transitivity import Setting, play
from tests.rating.made_outcomes import duel

STRENGTHS = np.linspace(-350, 350, 10)


def round_robin(rng, strengths, deals, **made):
    return play(Setting("", strengths, deals, **made), rng)


def test_diagnose_one_scale_mix_is_the_best_policy():
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


def test_diagnose_first_seat_always_wins_is_not_flagged():
    pairs = [(one, two) for one in range(6) for two in range(6) if one != two] * 20
    first, second = np.array(pairs).T
    made = Comparisons(tuple("abcdef"), first, second, np.ones(len(first)), np.repeat(np.arange(20), 30))
    found = diagnose(made)
    assert not found.flagged and found.fit.p_value == 1


@pytest.mark.parametrize(("p", "told"), [(0.02, "a sign that"), (0.2, "no sign that")])
def test_diagnosis_notes_weak_sign_is_named(p, told):
    found = diagnose(round_robin(np.random.default_rng(1), STRENGTHS, 10))
    (note,) = replace(found, flagged=False, fit=replace(found.fit, p_value=p)).notes()
    assert note.startswith(told) and f"p = {p:.3f}" in note


def test_diagnose_cycle_is_named_with_results():
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


def test_diagnose_cycles_best_established_comes_first():
    made = round_robin(np.random.default_rng(1), STRENGTHS[[4, 5, 6, 0, 1, 8, 9]], 40, circle=300)
    found = diagnose(made)
    assert found.flagged
    assert {beat.winner for beat in found.cycles[0]} == set(made.policies[:3])
    assert len(found.cycles) <= 3
    assert isinstance(found.cycles[0][0], Beat)


def test_diagnose_one_upset_gives_no_weight():
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deals", "made"),
    [(1, {"shared": False}), (3, {}), (10, {"ties": 0.5}), (10, {"luck": 300.0}), (10, {"shared": False, "ties": 0.3})],
)
def test_lack_of_fit_one_scale_holds_the_level(deals, made):
    values = []
    for run in range(200):
        tested = lack_of_fit(round_robin(np.random.default_rng([run, 5]), STRENGTHS, deals, **made), draws=99)
        values.append(tested.p_value)
    # Binomial: at a level of .05 more than 19 of 200 happen once in 300 times.
    assert np.count_nonzero(np.array(values) <= 0.05) <= 19


def test_lack_of_fit_cycle_is_found():
    few = [round_robin(np.random.default_rng(run), np.zeros(3), 20, circle=200) for run in range(8)]
    many = [round_robin(np.random.default_rng(run), STRENGTHS, 20, circle=400) for run in range(8)]
    for made in (few, many):
        assert np.mean([lack_of_fit(one, seed=3).p_value < 0.01 for one in made]) >= 0.8


def test_lack_of_fit_scatter_is_estimated():
    rng = np.random.default_rng(4)
    found = [lack_of_fit(round_robin(rng, STRENGTHS, 30, scatter=120.0)).scatter for _ in range(10)]
    assert 95 < np.mean(found) < 145


def test_lack_of_fit_order_and_seats_have_no_effect():
    made = round_robin(np.random.default_rng(1), STRENGTHS, 5, ties=0.2)
    order = np.random.default_rng(2).permutation(len(made.score))
    assert lack_of_fit(made) == lack_of_fit(made.select(order))
    turned = Comparisons(made.policies, made.second, made.first, 1 - made.score, made.cluster)
    assert lack_of_fit(turned).p_value == pytest.approx(lack_of_fit(made).p_value, abs=0.005)


def test_lack_of_fit_weight_is_a_number_of_results():
    made = replace(round_robin(np.random.default_rng(1), STRENGTHS, 5), seated=False)
    twice = made.select(np.repeat(np.arange(len(made.score)), 2))
    doubled = replace(made, weight=np.full(len(made.score), 2.0))
    assert lack_of_fit(twice).statistic == pytest.approx(lack_of_fit(doubled).statistic)


def test_lack_of_fit_unlinked_policies_are_left_out():
    made = round_robin(np.random.default_rng(1), STRENGTHS, 5)
    alone = lack_of_fit(made)
    size, games = len(made.policies), 20
    champion = Comparisons(
        (*made.policies, "zz champion"),
        np.append(made.first, np.full(games, size)),
        np.append(made.second, np.arange(games) % size),
        np.append(made.score, np.ones(games)),
        np.append(made.cluster, 100 + np.arange(games)),
    )
    assert lack_of_fit(champion) == alone


def test_lack_of_fit_too_few_results_is_not_tested():
    assert lack_of_fit(compare([])) is None
    assert lack_of_fit(compare([duel(0, "a", "b", 1), duel(1, "b", "a", 1)])) is None
    circle_of_one_match_each = [duel(0, "a", "b", 1), duel(1, "b", "c", 1), duel(2, "c", "a", 1)]
    tested = lack_of_fit(compare(circle_of_one_match_each))
    assert tested is None or tested.p_value > 0.2
