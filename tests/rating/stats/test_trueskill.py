"""TrueSkill against the library, averages over match orders, and Elo."""

import itertools
import math

import mpmath
import numpy as np
import pytest
import trueskill
from hypothesis import given
from hypothesis import strategies as st

from rating.schedules.round_robin import round_robin
from rating.stats.results import pair_results
from rating.stats.trueskill import (
    RunningRatings,
    TrueSkillOptions,
    TrueSkillRating,
    average_over_orders,
    elo,
    rate,
    update_pair,
)
from tests.rating.made_outcomes import Players, close, disturbed, duel, match, small_contest

FRESH = TrueSkillRating(25.0, 25.0 / 3)


OPTIONS = TrueSkillOptions()


def library_duel(winner, loser, drawn, options=OPTIONS):
    """Rates two players by the library, with fifty digits: its own normal distribution is good to six."""
    with mpmath.workdps(50):
        parameters = options.mu, options.sigma, options.beta, options.tau, options.draw_probability
        environment = trueskill.TrueSkill(*parameters, backend="mpmath")
        sides = [(trueskill.Rating(*rating),) for rating in (winner, loser)]
        rated = environment.rate(sides, ranks=[0, 0 if drawn else 1])
    return [TrueSkillRating(float(side[0].mu), float(side[0].sigma)) for side in rated]


skills = st.builds(TrueSkillRating, st.floats(-40, 90), st.floats(0.05, 20))


@given(skills, skills, st.booleans(), st.floats(0, 0.5), st.sampled_from([0.01, 0.1, 0.5, 0.9]))
def test_update_pair_matches_trueskill_library(winner, loser, drawn, tau, draw_probability):
    options = TrueSkillOptions(tau=tau, draw_probability=draw_probability)
    library = library_duel(winner, loser, drawn, options)
    for mine, theirs in zip(update_pair(winner, loser, drawn, options), library, strict=True):
        assert close(mine.mu, theirs.mu, 1e-9)
        assert close(mine.sigma, theirs.sigma, 1e-9)


@pytest.mark.parametrize("drawn", [False, True])
def test_update_pair_far_upsets_are_finite_and_continuous(drawn):
    # The expansion begins at 30 standard deviations, where both forms still work; the distribution underflows at 38.
    scale = math.sqrt(2 * OPTIONS.beta**2 + 2 + 2 * OPTIONS.tau**2)
    before = after = update_pair(TrueSkillRating(0.0, 1.0), TrueSkillRating(29.0 * scale, 1.0), drawn, OPTIONS)
    for lead in np.arange(29.0, 31.0, 0.01) * scale:
        before, after = after, update_pair(TrueSkillRating(0.0, 1.0), TrueSkillRating(lead, 1.0), drawn, OPTIONS)
        assert 0 <= after[0].mu - before[0].mu < 0.01
        assert abs(after[0].sigma - before[0].sigma) < 1e-6
    for lead in (300.0, 3000.0):
        weak, strong = update_pair(TrueSkillRating(0.0, 1.0), TrueSkillRating(lead, 1.0), drawn, OPTIONS)
        assert all(math.isfinite(number) for rating in (weak, strong) for number in rating)
        assert weak.mu > 0 and strong.mu < lead and 0 < weak.sigma < 1.01


def test_trueskill_bad_options_are_refused():
    with pytest.raises(ValueError, match="draw_probability"):
        average_over_orders(pair_results([duel(0, "a", "b", None)]), TrueSkillOptions(draw_probability=0))
    for wrong in ({"sigma": 0}, {"beta": -1}, {"tau": -0.1}, {"draw_probability": 1}, {"mu": math.inf}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            TrueSkillOptions(**wrong)


def log(count, seed=0):
    players = Players({"a": 0.0, "b": 100.0, "c": 250.0, "d": -80.0}, seat=60.0, ties=0.2, seed=seed)
    batches = round_robin(small_contest("game_v0", tuple(players.strengths), seed=1))
    outcomes = []
    while len(outcomes) < count:
        outcomes += players.play(next(batches))
    return outcomes


def test_rate_history_ends_in_the_rating():
    outcomes = log(60)
    result = rate(disturbed(outcomes))
    assert result == rate(outcomes)
    for name, steps in result.history.items():
        played = [outcome.number for outcome in outcomes if name in {seat.policy for seat in outcome.seats}]
        assert [step.number for step in steps] == played
        assert TrueSkillRating(steps[-1].mu, steps[-1].sigma) == result.ratings[name]
    assert list(result.ratings) == sorted(result.ratings)


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
    (draw,) = pair_results([duel(0, "a", "b", None)])
    with pytest.raises(ValueError, match="draw_probability"):
        RunningRatings(TrueSkillOptions(draw_probability=0)).add(draw)


def test_rate_without_draws_draw_probability_may_be_0():
    options = TrueSkillOptions(draw_probability=0)
    rated = dict(zip("ab", library_duel(FRESH, FRESH, False, options), strict=True))
    # With no margin for draws the gain is that of a half normal: sigma^2 / c * sqrt(2 / pi), c^2 = 2 (beta^2 + sigma^2).
    variance = FRESH.sigma**2 + options.tau**2
    gain = variance / math.sqrt(2 * (options.beta**2 + variance)) * math.sqrt(2 / math.pi)
    assert close(rated["a"].mu - FRESH.mu, gain, 1e-9) and close(FRESH.mu - rated["b"].mu, gain, 1e-9)
    for name, rating in rate([duel(0, "a", "b", "a")], options).ratings.items():
        assert rating == pytest.approx(rated[name], abs=1e-9)


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


def test_average_over_orders_more_matches_lower_sd():
    frozen = TrueSkillOptions(tau=0.0)
    few, many = (average_over_orders(pair_results(log(count)), frozen) for count in (60, 1200))
    assert max(one.sd for one in many.values()) < 0.5 * max(one.sd for one in few.values())


def test_average_over_orders_matches_all_orders():
    outcomes = [duel(0, "a", "b", "a"), duel(1, "b", "c", "b"), duel(2, "c", "a", None)]
    finals = []
    for order in itertools.permutations(range(3)):
        running = RunningRatings(OPTIONS)
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


def test_elo_order_is_by_match_number():
    outcomes = [duel(number, *pair, pair[number % 2]) for number, pair in enumerate(["ab", "bc", "ca", "ab", "ac"])]
    assert elo(disturbed(outcomes)) == elo(outcomes)
