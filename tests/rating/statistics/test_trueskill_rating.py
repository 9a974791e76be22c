import itertools
import math

import mpmath
import numpy as np
import pytest
import trueskill
from hypothesis import given
from hypothesis import strategies as st

from rating.schedules.round_robin import round_robin
from rating.statistics.results import duels
from rating.statistics.trueskill_rating import (
    Rating,
    RunningRatings,
    TrueSkillOptions,
    rate,
    shuffled,
    update,
    update_duel,
)
from tests.rating.made_outcomes import Players, close, disturbed, duel, match, small_contest

FRESH = Rating(25.0, 25.0 / 3)
OPTIONS = TrueSkillOptions()


def free_for_all(players):
    after = update([{str(index): FRESH} for index in range(players)], range(players))
    return [after[str(index)] for index in range(players)]


def teams(*sizes, ranks=None, weights=None):
    names = iter("abcdefgh")
    sides = [{next(names): FRESH for _ in range(size)} for size in sizes]
    return list(update(sides, ranks or range(len(sizes)), weights=weights).values())


# Published values of the reference implementations, to three decimals.
VECTORS = {
    "1v1 win": (free_for_all(2), [(29.396, 7.171), (20.604, 7.171)]),
    "1v1 draw": (teams(1, 1, ranks=[0, 0]), [(25.000, 6.458)] * 2),
    "3 free for all": (free_for_all(3), [(31.675, 6.656), (25.000, 6.208), (18.325, 6.656)]),
    "4 free for all": (free_for_all(4), [(33.207, 6.348), (27.401, 5.787), (22.599, 5.787), (16.793, 6.348)]),
    "5 free for all": (
        free_for_all(5),
        [(34.363, 6.136), (29.058, 5.536), (25.000, 5.420), (20.942, 5.536), (15.637, 6.136)],
    ),
    "2v2": (teams(2, 2), [(28.108, 7.774)] * 2 + [(21.892, 7.774)] * 2),
    "1 beats 2": (teams(1, 2), [(33.731, 7.317)] + [(16.269, 7.317)] * 2),
    "4 beat 1 by shares": (
        teams(4, 1, weights=dict.fromkeys("abcd", 0.25)),
        [(26.451, 8.223)] * 4 + [(19.194, 6.332)],
    ),
}


@pytest.mark.parametrize("case", VECTORS)
def test_published_vectors(case):
    computed, published = VECTORS[case]
    assert len(computed) == len(published)
    for (mu, sigma), (published_mu, published_sigma) in zip(computed, published, strict=True):
        assert close(mu, published_mu, 0.001)
        assert close(sigma, published_sigma, 0.001)


def test_agreement_with_fifty_digits():
    with mpmath.workdps(50):
        exact = trueskill.TrueSkill(OPTIONS.mu, OPTIONS.sigma, OPTIONS.beta, OPTIONS.tau, 0.1, backend="mpmath")
        for mu, sigma, drawn in ((25.0, 8.0, False), (31.0, 1.0, True), (12.0, 0.9, False), (40.0, 3.0, True)):
            mine = update([{"a": Rating(mu, sigma)}, {"b": FRESH}], (0, 0 if drawn else 1))
            groups = [(trueskill.Rating(mu, sigma),), (trueskill.Rating(*FRESH),)]
            theirs = [group[0] for group in exact.rate(groups, ranks=[0, 0 if drawn else 1])]
            for rating, other in zip(mine.values(), theirs, strict=True):
                assert close(rating.mu, float(other.mu), 1e-9)
                assert close(rating.sigma, float(other.sigma), 1e-9)


skills = st.builds(Rating, st.floats(-40, 90), st.floats(0.05, 20))


@given(skills, skills, st.booleans(), st.floats(0, 0.5), st.sampled_from([0.01, 0.1, 0.5, 0.9]))
def test_closed_form_is_the_library(winner, loser, drawn, tau, draw_probability):
    options = TrueSkillOptions(tau=tau, draw_probability=draw_probability)
    library = update([{"a": winner}, {"b": loser}], (0, 0 if drawn else 1), options)
    for mine, theirs in zip(update_duel(winner, loser, drawn, options), (library["a"], library["b"]), strict=True):
        assert close(mine.mu, theirs.mu, 1e-9)
        assert close(mine.sigma, theirs.sigma, 1e-9)


@pytest.mark.parametrize("drawn", [False, True])
def test_upsets_beyond_the_normal_tail_are_finite_and_continuous(drawn):
    # The expansion begins at 30 standard deviations, where both forms still work; the distribution underflows at 38.
    scale = math.sqrt(2 * OPTIONS.beta**2 + 2 + 2 * OPTIONS.tau**2)
    before = after = update_duel(Rating(0.0, 1.0), Rating(29.0 * scale, 1.0), drawn, OPTIONS)
    for lead in np.arange(29.0, 31.0, 0.01) * scale:
        before, after = after, update_duel(Rating(0.0, 1.0), Rating(lead, 1.0), drawn, OPTIONS)
        assert 0 <= after[0].mu - before[0].mu < 0.01
        assert abs(after[0].sigma - before[0].sigma) < 1e-6
    for lead in (300.0, 3000.0):
        ratings = update([{"a": Rating(0.0, 1.0)}, {"b": Rating(lead, 1.0)}], (0, 0 if drawn else 1))
        assert all(math.isfinite(number) for rating in ratings.values() for number in rating)
        assert ratings["a"].mu > 0 and ratings["b"].mu < lead and 0 < ratings["a"].sigma < 1.01


@pytest.mark.parametrize("ranks", [(0, 0, 0, 0, 0), (0, 1, 1, 1, 0), (2, 0, 1, 1, 1)])
def test_ties_of_many_depend_neither_on_the_order_of_the_teams_nor_on_names(ranks):
    skills = [FRESH, Rating(29.0, 3.0), FRESH, Rating(25.0, 5.0), FRESH]
    expected = [update([{str(i): skill} for i, skill in enumerate(skills)], ranks)[str(i)] for i in range(5)]
    for names in itertools.islice(itertools.permutations("abcde"), 0, 120, 7):
        order = sorted(range(5), key=lambda i: names[i])
        after = update([{names[i]: skills[i]} for i in order], [ranks[i] for i in order])
        assert [after[name] for name in names] == expected
    assert all(expected[i] == expected[j] for i in (0, 2, 4) for j in (0, 2, 4) if ranks[i] == ranks[j])


def test_bad_arguments_are_refused():
    sides = [{"a": FRESH}, {"b": FRESH}]
    with pytest.raises(ValueError, match="draw_probability"):
        update(sides, (1, 1), TrueSkillOptions(draw_probability=0))
    with pytest.raises(ValueError, match="draw_probability"):
        shuffled([duel(0, "a", "b", None)], TrueSkillOptions(draw_probability=0))
    with pytest.raises(ValueError, match="finite"):
        update(sides, (1, math.nan))
    with pytest.raises(ValueError, match="one for each of 2"):
        update(sides, (1,))
    with pytest.raises(ValueError, match="every player once"):
        update([{"a": FRESH}, {"a": FRESH}], (0, 1))
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


def test_the_global_environment_is_not_used():
    trueskill.setup(mu=1000.0, sigma=1.0, beta=1.0, tau=1.0, draw_probability=0.5)
    try:
        first = rate([duel(0, "a", "b", "a")]).ratings["a"]
    finally:
        trueskill.setup()
    assert close(first.mu, 29.396, 0.001)


def test_history_follows_match_numbers_and_ends_in_the_rating():
    outcomes = log(60)
    result = rate(disturbed(outcomes))
    assert result == rate(outcomes)
    for name, steps in result.history.items():
        played = [outcome.number for outcome in outcomes if name in {seat.policy for seat in outcome.seats}]
        assert [step.number for step in steps] == played
        assert Rating(steps[-1].mu, steps[-1].sigma) == result.ratings[name]
    assert list(result.ratings) == sorted(result.ratings)


def test_ratings_follow_the_library_through_a_log():
    outcomes, library = log(600), {}
    history = rate(outcomes).history
    steps = {name: {step.number: step for step in steps} for name, steps in history.items()}
    for result in duels(outcomes):
        sides = [{name: library.get(name, FRESH)} for name in (result.first, result.second)]
        library |= update(sides, (1 - result.score, result.score))
        for name in (result.first, result.second):
            step, rating = steps[name][result.number], library[name]
            assert close(step.mu, rating.mu, 1e-9) and close(step.sigma, rating.sigma, 1e-9)
    assert history.keys() == library.keys()
    (draw,) = duels([duel(0, "a", "b", None)])
    with pytest.raises(ValueError, match="draw_probability"):
        RunningRatings(TrueSkillOptions(draw_probability=0)).add(draw)


def test_without_draws_decided_matches_are_rated_at_draw_probability_0():
    options = TrueSkillOptions(draw_probability=0)
    rated = update([{"a": FRESH}, {"b": FRESH}], (0, 1), options)
    # With no margin for draws the gain is that of a half normal: sigma^2 / c * sqrt(2 / pi), c^2 = 2 (beta^2 + sigma^2).
    variance = FRESH.sigma**2 + options.tau**2
    gain = variance / math.sqrt(2 * (options.beta**2 + variance)) * math.sqrt(2 / math.pi)
    assert close(rated["a"].mu - FRESH.mu, gain, 1e-9) and close(FRESH.mu - rated["b"].mu, gain, 1e-9)
    for name, rating in rate([duel(0, "a", "b", "a")], options).ratings.items():
        assert rating == pytest.approx(rated[name], abs=1e-9)


def test_teams_are_rated_as_one():
    rated = update([{"a": FRESH, "b": FRESH}, {"c": FRESH, "d": FRESH}], (0, 1))
    assert rated["a"] == pytest.approx(rated["b"])
    assert rated["a"].mu - FRESH.mu == pytest.approx(FRESH.mu - rated["c"].mu) and rated["a"].mu > FRESH.mu + 1


@pytest.mark.parametrize("lead", [40.0, 300.0, 3000.0, 1e6])
@pytest.mark.parametrize("ranks", [(0, 1, 2), (0, 0, 1), (0, 0, 0)])
def test_extreme_upsets_among_many_are_rated(lead, ranks):
    sides = [{"a": Rating(0.0, 1.0), "b": Rating(0.0, 1.0)}, {"c": Rating(lead, 1.0)}, {"d": Rating(2 * lead, 1.0)}]
    before = {name: rating for side in sides for name, rating in side.items()}
    after = update(sides, ranks, weights={"a": 0.5, "b": 0.5})
    assert after["a"].mu > 0 and after["d"].mu < 2 * lead
    for name, (mu, sigma) in after.items():
        assert math.isfinite(mu) and 0 < sigma < 1.01
        assert abs(mu - before[name].mu) <= 2 * lead


def test_both_ratings_come_from_those_before_the_match():
    outcomes = [duel(0, "a", "b", "a"), duel(1, "b", "c", "b")]
    after = rate(outcomes).ratings
    before = rate(outcomes[:1]).ratings["b"]
    b, c = update_duel(before, FRESH, False, OPTIONS)
    assert close(after["b"].mu, b.mu, 1e-9) and close(after["c"].mu, c.mu, 1e-9)


def test_void_matches_and_matches_with_itself_change_nothing():
    outcomes = log(30)
    with_itself = [*outcomes, match(10_000, ("a", 1.0), ("a", -1.0))]
    assert rate(with_itself) == rate(outcomes)
    assert rate([]).ratings == {}


def test_shuffled_ratings_are_centred_seeded_and_blind_to_the_order():
    outcomes = log(200)
    found = shuffled(outcomes, permutations=20)
    assert shuffled(disturbed(outcomes), permutations=20) == found
    assert shuffled(duels(outcomes)[::-1], permutations=20) == found
    assert shuffled(outcomes, permutations=20, seed=1) != found
    assert close(sum(one.mu for one in found.values()) / 4, 25.0, 1e-9)
    assert all(0.01 < one.sd < 1.5 for one in found.values())
    ratings = rate(outcomes).ratings
    assert sorted(found, key=lambda name: found[name].mu) == sorted(ratings, key=lambda name: ratings[name].mu)
    assert all(close(one.sigma, ratings[name].sigma, 0.3) for name, one in found.items())


def test_order_matters_less_to_frozen_agents_with_more_matches():
    frozen = TrueSkillOptions(tau=0.0)
    few, many = (shuffled(log(count), frozen) for count in (60, 1200))
    assert max(one.sd for one in many.values()) < 0.5 * max(one.sd for one in few.values())


def test_shuffled_ratings_are_those_of_every_order_averaged():
    outcomes = [duel(0, "a", "b", "a"), duel(1, "b", "c", "b"), duel(2, "c", "a", None)]
    finals = []
    for order in itertools.permutations(range(3)):
        running = RunningRatings(OPTIONS)
        for index in order:
            running.add(duels(outcomes)[index])
        mean = sum(rating.mu for rating in running.ratings.values()) / 3
        finals.append({name: (rating.mu + 25 - mean, rating.sigma) for name, rating in running.ratings.items()})
    for name, one in shuffled(outcomes, permutations=3000).items():
        assert close(one.mu, np.mean([final[name][0] for final in finals]), 0.02)
        assert close(one.sigma, np.mean([final[name][1] for final in finals]), 0.02)
        assert close(one.sd, np.std([final[name][0] for final in finals]), 0.02)


def test_shuffled_ratings_of_little():
    assert shuffled([]) == {}
    assert shuffled([duel(0, "a", "b", "a")])["a"].sd < 1e-12
    with pytest.raises(ValueError, match="2 or more"):
        shuffled([], permutations=1)
