"""TrueSkill against the library, averages over match orders, and Elo."""

import itertools
import math

import mpmath
import numpy as np
import pytest
import trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

from rating.schedules.round_robin import round_robin
from rating.stats.results import pair_results
from rating.stats.trueskill import (
    BETA,
    DRAW_PROBABILITY,
    MU,
    SIGMA,
    TAU,
    RunningRatings,
    TrueSkillRating,
    average_over_orders,
    elo,
    rate,
    update_pair,
)
from tests.rating.made_outcomes import Players, close, disturbed, duel, match, small_contest

FRESH = TrueSkillRating(MU, SIGMA)


def library_duel(winner, loser, drawn):
    """Rates two players by the library, with fifty digits: its own normal distribution is good to six."""
    with mpmath.workdps(50):
        environment = trueskill.TrueSkill(MU, SIGMA, BETA, TAU, DRAW_PROBABILITY, backend="mpmath")
        sides = [(trueskill.Rating(*rating),) for rating in (winner, loser)]
        rated = environment.rate(sides, ranks=[0, 0 if drawn else 1])
    return [TrueSkillRating(float(side[0].mu), float(side[0].sigma)) for side in rated]


skills = st.builds(TrueSkillRating, st.floats(-40, 90), st.floats(0.05, 20))


@settings(max_examples=40)
@given(skills, skills, st.booleans())
def test_update_pair_matches_trueskill_library(winner, loser, drawn):
    library = library_duel(winner, loser, drawn)
    for mine, theirs in zip(update_pair(winner, loser, drawn), library, strict=True):
        assert close(mine.mu, theirs.mu, 1e-9)
        assert close(mine.sigma, theirs.sigma, 1e-9)


@pytest.mark.parametrize("drawn", [False, True])
def test_update_pair_far_upsets_are_finite_and_continuous(drawn):
    # The expansion begins at 30 standard deviations, where both forms still work; the distribution underflows at 38.
    scale = math.sqrt(2 * BETA**2 + 2 + 2 * TAU**2)
    before = after = update_pair(TrueSkillRating(0.0, 1.0), TrueSkillRating(29.0 * scale, 1.0), drawn)
    for lead in np.arange(29.0, 31.0, 0.01) * scale:
        before, after = after, update_pair(TrueSkillRating(0.0, 1.0), TrueSkillRating(lead, 1.0), drawn)
        assert 0 <= after[0].mu - before[0].mu < 0.01
        assert abs(after[0].sigma - before[0].sigma) < 1e-6
    for lead in (300.0, 3000.0):
        weak, strong = update_pair(TrueSkillRating(0.0, 1.0), TrueSkillRating(lead, 1.0), drawn)
        assert all(math.isfinite(number) for rating in (weak, strong) for number in rating)
        assert weak.mu > 0 and strong.mu < lead and 0 < weak.sigma < 1.01


def log(count, seed=0):
    players = Players({"a": 0.0, "b": 100.0, "c": 250.0, "d": -80.0}, seat=60.0, ties=0.2, seed=seed)
    batches = round_robin(small_contest("game_v0", tuple(players.strengths), seed=1))
    outcomes = []
    while len(outcomes) < count:
        outcomes += players.play(next(batches))
    return outcomes


@pytest.mark.slow
def test_rate_long_log_matches_trueskill_library():
    outcomes, library = log(600), {}
    history = rate(outcomes).history
    steps = {name: {step.number: step for step in steps} for name, steps in history.items()}
    for result in pair_results(outcomes):
        names = (result.second, result.first) if result.score == 0 else (result.first, result.second)
        rated = library_duel(*(library.get(name, FRESH) for name in names), result.score == 0.5)
        library |= dict(zip(names, rated, strict=True))
        for name in names:
            step, rating = steps[name][result.number], library[name]
            assert close(step.mu, rating.mu, 1e-9) and close(step.sigma, rating.sigma, 1e-9)
    assert history.keys() == library.keys()


def test_rate_void_and_self_matches_have_no_effect():
    outcomes = log(30)
    with_itself = [*outcomes, match(10_000, ("a", 1.0), ("a", -1.0))]
    assert rate(with_itself) == rate(outcomes)
    assert rate([]).ratings == {}


def test_average_over_orders_is_centred_and_seeded():
    outcomes = log(200)
    found = average_over_orders(pair_results(outcomes), permutations=20)
    assert average_over_orders(pair_results(disturbed(outcomes)), permutations=20) == found
    assert average_over_orders(pair_results(outcomes)[::-1], permutations=20) == found
    assert average_over_orders(pair_results(outcomes), permutations=20, seed=1) != found
    assert close(sum(one.mu for one in found.values()) / 4, 25.0, 1e-9)
    assert all(0.01 < one.sd < 1.5 for one in found.values())
    ratings = rate(outcomes).ratings
    assert sorted(found, key=lambda name: found[name].mu) == sorted(ratings, key=lambda name: ratings[name].mu)
    assert all(close(one.sigma, ratings[name].sigma, 0.3) for name, one in found.items())


def test_average_over_orders_matches_all_orders():
    outcomes = [duel(0, "a", "b", "a"), duel(1, "b", "c", "b"), duel(2, "c", "a", None)]
    finals = []
    for order in itertools.permutations(range(3)):
        running = RunningRatings()
        for index in order:
            running.add(pair_results(outcomes)[index])
        mean = sum(rating.mu for rating in running.ratings.values()) / 3
        finals.append({name: (rating.mu + 25 - mean, rating.sigma) for name, rating in running.ratings.items()})
    for name, one in average_over_orders(pair_results(outcomes), permutations=3000).items():
        assert close(one.mu, np.mean([final[name][0] for final in finals]), 0.02)
        assert close(one.sigma, np.mean([final[name][1] for final in finals]), 0.02)
        assert close(one.sd, np.std([final[name][0] for final in finals]), 0.02)


def test_average_over_orders_edge_cases():
    assert average_over_orders([]) == {}
    assert average_over_orders(pair_results([duel(0, "a", "b", "a")]))["a"].sd < 1e-12
    with pytest.raises(ValueError, match="2 or more"):
        average_over_orders([], permutations=1)


def test_elo_matches_by_hand():
    assert elo([]) == {}
    assert elo([duel(0, "a", "b", "a")]) == {"a": 1002.0, "b": 998.0}
    after = elo([duel(0, "a", "b", "a"), duel(1, "b", "a", None)])
    expected = 1 / (1 + 10 ** (-4 / 400))
    assert after["a"] == pytest.approx(1002 - 4 * (expected - 0.5), abs=1e-12)
    assert sum(after.values()) == pytest.approx(2000)
    log = [duel(0, "a", "b", "a"), duel(1, "b", "c", "c"), duel(2, "c", "a", "c")]
    assert elo(disturbed(log)) == elo(log)
