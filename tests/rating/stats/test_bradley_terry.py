"""Bradley-Terry: other libraries as oracles, clustered errors, ties and separable data."""

import itertools
import math
from dataclasses import replace

import choix
import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.experiments.bootstrap import bootstrap
from rating.schedules.round_robin import round_robin
from rating.stats.bradley_terry import (
    DEFAULT_PRIOR_SD,
    ELO_PER_NAT,
    BradleyTerryOptions,
    Comparisons,
    clustered,
    compare,
    fit,
    fit_totals,
    totals,
)
from tests.rating.made_outcomes import Players, duel, match, small_contest

LIKELIHOOD = BradleyTerryOptions(prior_sd=None, seat_term=False)


def draw(strengths, pairs, rng, *, seat=0.0, ties=0.0, repeats=1):
    """Comparisons drawn from the model; ``repeats`` pairs in a row, with seats exchanged, form a cluster."""
    size = len(strengths)
    first = rng.integers(size, size=pairs // repeats)
    second = (first + 1 + rng.integers(size - 1, size=len(first))) % size
    first, second = np.repeat(first, repeats), np.repeat(second, repeats)
    swapped = np.arange(len(first)) % 2 == 1
    first[swapped], second[swapped] = second[swapped], first[swapped]
    lead = (strengths[first] - strengths[second] + seat) / ELO_PER_NAT
    result = 2 * (rng.random(len(first)) < 1 / (1 + np.exp(-lead))).astype(np.int64)
    result[rng.random(len(first)) < ties] = 1
    names = tuple(f"policy {index:03}" for index in range(size))
    return Comparisons(names, first, second, result / 2, np.arange(len(first)) // repeats)


def nats(ratings):
    return (ratings - 1000) / ELO_PER_NAT


@pytest.mark.parametrize("seed", range(2))
def test_fit_likelihood_matches_evalica(seed):
    rng = np.random.default_rng(seed)
    data = draw(rng.normal(0, 150, 12), 3000, rng, ties=0.2)
    kinds = np.array([evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.X])
    names = np.array(data.policies)
    theirs = evalica.bradley_terry(
        names[data.first].tolist(),
        names[data.second].tolist(),
        kinds[(2 * data.score).astype(int)].tolist(),
        tolerance=1e-14,
        limit=100_000,
    )
    strengths = np.log(theirs.scores.loc[list(data.policies)].to_numpy())
    mine = nats(fit(data, LIKELIHOOD).ratings)
    assert np.abs(mine - (strengths - strengths.mean())).max() < 1e-6


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("prior_sd", [50.0, DEFAULT_PRIOR_SD])
def test_fit_prior_matches_choix(seed, prior_sd):
    rng = np.random.default_rng(seed)
    data = draw(rng.normal(0, 200, 10), 200, rng)
    pairs = [
        (first, second) if score == 1 else (second, first)
        for first, second, score in zip(data.first, data.second, data.score, strict=True)
    ]
    # choix adds alpha times the sum of squares, the logarithm of a Gaussian with variance 1 / (2 alpha).
    alpha = (ELO_PER_NAT / prior_sd) ** 2 / 2
    theirs = choix.opt_pairwise(10, pairs, alpha=alpha, method="BFGS", tol=1e-9)
    mine = nats(fit(data, BradleyTerryOptions(prior_sd=prior_sd, seat_term=False)).ratings)
    assert np.abs(mine - theirs).max() < 1e-6


def totals_of(counts):
    """Returns sums of scores and numbers of games from counts of lost, tied and won ones."""
    return counts[..., 2] + counts[..., 1] / 2, counts.sum(axis=-1).astype(float)


def test_fit_ties_are_half_a_win_or_dropped():
    halves = [duel(0, "a", "b", None), duel(1, "a", "b", "a"), duel(2, "a", "b", "b"), duel(3, "a", "b", "a")]
    half, dropped = (
        fit(compare(halves), BradleyTerryOptions(None, seat_term=False, ties=ties)) for ties in ("half", "drop")
    )
    assert half.ratings[0] - half.ratings[1] == pytest.approx(400 * math.log10(2.5 / 1.5))
    assert dropped.ratings[0] - dropped.ratings[1] == pytest.approx(400 * math.log10(2))
    assert (half.pairs, dropped.pairs) == (4, 3)


def log(strengths, cycles, *, seat=0.0, ties=0.0, seed=0):
    players = Players(strengths, seat=seat, ties=ties, seed=seed)
    batches = round_robin(small_contest("game_v0", tuple(strengths), seed=3, batch=1))
    return [outcome for _ in range(cycles) for outcome in players.play(next(batches))]


@pytest.mark.parametrize("prior_sd", [DEFAULT_PRIOR_SD, None, 1e6])
def test_fit_separable_data_are_finite_and_in_order(prior_sd):
    outcomes = [duel(10 * a + b, str(a), str(b), str(b)) for a in range(5) for b in range(a + 1, 5)]
    fitted = fit(compare(outcomes), BradleyTerryOptions(prior_sd=prior_sd))
    assert np.all(np.isfinite(fitted.ratings)) and np.all(np.diff(fitted.ratings) > 0)
    assert np.all(np.isfinite(fitted.errors)) and math.isfinite(fitted.seat_advantage)
    assert fitted.ratings.mean() == pytest.approx(1000)
    assert not fitted.connected
    assert fitted.regularised == (prior_sd is None)


def test_fit_seat_that_always_wins_is_finite():
    outcomes = [duel(number, *pair, pair[0]) for number, pair in enumerate(["ab", "ba"] * 20)]
    fitted = fit(compare(outcomes), BradleyTerryOptions(prior_sd=None))
    assert fitted.connected and not fitted.regularised
    assert fitted.ratings == pytest.approx([1000, 1000])
    assert 400 < fitted.seat_advantage < 2000


def test_fit_unconnected_groups_are_flagged():
    outcomes = [duel(n, *pair, pair[n // 4 % 2]) for n, pair in enumerate(["ab", "ba", "cd", "dc"] * 5)]
    assert not fit(compare(outcomes)).connected
    joined = [*outcomes, duel(100, "a", "c", "a")]
    assert not fit(compare(joined)).connected  # c has nothing against a yet
    assert fit(compare([*joined, duel(101, "c", "a", None)])).connected
    assert not fit(compare([*joined, duel(101, "c", "a", None)]), BradleyTerryOptions(ties="drop")).connected


def test_fit_long_chain_converges():
    # Neighbours of a hundred policies met twice: some libraries stop many nats short of the maximum.
    size = 100
    counts = np.zeros((size, size, 3), dtype=np.int64)
    for index in range(size - 1):
        counts[index + 1, index, 2], counts[index + 1, index, 0] = 3, 1
    fitted = fit_totals([f"{index:03}" for index in range(size)], *totals_of(counts), LIKELIHOOD)
    assert np.diff(nats(fitted.ratings)) == pytest.approx(np.full(size - 1, math.log(3)), abs=1e-8)


def gradient_of(fitted, counts):
    """The gradient of the log posterior at the fit, written out pair by pair."""
    x, seat = nats(fitted.ratings), fitted.seat_advantage / ELO_PER_NAT
    gradient = np.zeros(len(x) + 1)
    for first in range(len(x)):
        for second in range(len(x)):
            p = 1 / (1 + math.exp(-(x[first] - x[second] + seat)))
            residual = counts[first, second] @ (0, 0.5, 1) - p * counts[first, second].sum()
            gradient[first] += residual
            gradient[second] -= residual
            gradient[-1] += residual
    gradient[:-1] -= x * (ELO_PER_NAT / fitted.options.prior_sd) ** 2
    gradient[-1] -= seat * (ELO_PER_NAT / DEFAULT_PRIOR_SD) ** 2
    return gradient


counts_strategy = st.integers(1, 5).flatmap(
    lambda size: st.lists(
        st.sampled_from([0, 0, 0, 1, 2, 30, 100_000]), min_size=3 * size * size, max_size=3 * size * size
    ).map(lambda cells: np.array(cells, dtype=np.int64).reshape(size, size, 3))
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(counts_strategy, st.sampled_from([1.0, 100.0, 418.0, 20_000.0]))
def test_fit_any_counts_give_a_maximum(counts, prior_sd):
    counts[range(len(counts)), range(len(counts))] = 0
    options = BradleyTerryOptions(prior_sd=prior_sd)
    fitted = fit_totals([str(index) for index in range(len(counts))], *totals_of(counts), options)
    assert np.abs(gradient_of(fitted, counts)).max() <= 1e-9 * max(1, counts.sum())
    assert np.all(fitted.errors >= 0) and np.all(np.isfinite(fitted.covariance))


def test_clustered_dropped_ties_match_decided_results():
    players = Players({"a": 0.0, "b": 120.0, "c": -60.0}, ties=0.4, seed=4)
    contest = small_contest("game_v0", ("a", "b", "c"))
    outcomes = [outcome for batch in itertools.islice(round_robin(contest), 10) for outcome in players.play(batch)]
    decided = [outcome for outcome in outcomes if outcome.seats[0].reward]
    assert 0 < len(decided) < len(outcomes)
    options = BradleyTerryOptions(ties="drop")
    fitted, robust = fit(compare(outcomes), options), clustered(fit(compare(outcomes), options), compare(outcomes))
    again = clustered(fit(compare(decided)), compare(decided))
    assert fitted.pairs == len(decided)
    assert robust.clusters == again.clusters
    np.testing.assert_allclose(robust.covariance, again.covariance)
    assert robust.seat_error == pytest.approx(again.seat_error)


def test_clustered_copies_of_a_deal_have_no_effect():
    # Nine more copies of each match with the same seed are no evidence: only the clustered error says so.
    rng = np.random.default_rng(1)
    once = draw(rng.normal(0, 150, 5), 500, rng)
    copies = Comparisons(
        once.policies, *(np.repeat(column, 10) for column in (once.first, once.second, once.score, once.cluster))
    )
    honest = clustered(fit(once, LIKELIHOOD), once)
    fooled = fit(copies, LIKELIHOOD)
    robust = clustered(fooled, copies)
    assert fooled.errors == pytest.approx(fit(once, LIKELIHOOD).errors / math.sqrt(10))
    assert robust.errors == pytest.approx(honest.errors, rel=1e-6)
    assert robust.clusters == 500
    assert bootstrap(copies, LIKELIHOOD, resamples=300).std(axis=0) == pytest.approx(robust.errors, rel=0.2)


@pytest.mark.parametrize("seats", [True, False])
def test_clustered_matches_newton_step_without_each_deal(seats):
    # Written out: gradient and curvature of all results but those of a deal, for each deal.
    rng = np.random.default_rng(8)
    data = draw(rng.normal(0, 200, 4), 60, rng, seat=100, ties=0.2)
    data = replace(data, cluster=np.sort(rng.integers(0, 6, 60)), weight=rng.uniform(0.5, 2, 60))
    fitted = fit(data, BradleyTerryOptions(seat_term=seats))
    x = np.append(nats(fitted.ratings), fitted.seat_advantage / ELO_PER_NAT)
    rows = np.zeros((60, 5))
    rows[range(60), data.first], rows[range(60), data.second], rows[:, 4] = 1, -1, seats
    p = 1 / (1 + np.exp(-rows @ x))
    prior = np.diag(np.full(5, (ELO_PER_NAT / DEFAULT_PRIOR_SD) ** 2))
    curvature = (rows.T * (data.weight * p * (1 - p))) @ rows + prior
    curvature[:4, :4] += 0.25
    moves = []
    for deal in range(6):
        own = data.cluster == deal
        without = curvature - (rows[own].T * (data.weight * p * (1 - p))[own]) @ rows[own]
        moves.append(np.linalg.solve(without, rows[own].T @ (data.weight * (data.score - p))[own]))
    inverse = np.linalg.inv(curvature)
    covariance = ELO_PER_NAT**2 * (5 / 6 * np.transpose(moves) @ moves + inverse @ prior @ inverse)
    robust = clustered(fitted, data)
    centre = np.eye(4) - 0.25
    np.testing.assert_allclose(robust.covariance, centre @ covariance[:4, :4] @ centre, rtol=1e-8, atol=1e-6)
    assert robust.seat_error == pytest.approx(math.sqrt(covariance[4, 4]) if seats else 0)
    assert robust.clusters == 6


def test_compare_many_players_are_all_pairs():
    outcomes = [
        match(0, ("a", 9.0), ("b", 5.0), ("c", 5.0), seed=7),
        match(1, ("c", 1.0), ("a", 2.0), ("b", 0.0), seed=8),
    ]
    data = compare(outcomes)
    pairs = [
        (data.policies[first], data.policies[second], float(score))
        for first, second, score in zip(data.first, data.second, data.score, strict=True)
    ]
    assert pairs == [("a", "b", 1), ("a", "c", 1), ("b", "c", 0.5), ("c", "a", 0), ("c", "b", 1), ("a", "b", 1)]
    assert data.cluster.tolist() == [0, 0, 0, 1, 1, 1]


def test_totals_many_games_are_exact():
    rng = np.random.default_rng(6)
    data = draw(rng.normal(0, 150, 200), 100_000, rng, ties=0.2)
    wins, games = totals(data)
    assert games.sum() == 100_000
    assert np.array_equal((wins, games), totals(replace(data, weight=np.ones(100_000))))
    assert wins[3, 5] == data.score[(data.first == 3) & (data.second == 5)].sum()
    fitted = fit(data)
    assert fitted.connected and fitted.pairs == 100_000


def test_fit_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="ties"):
        BradleyTerryOptions(ties="thirds")
    for wrong in (0.0, math.inf, "wide"):
        with pytest.raises(ValueError, match="prior_sd"):
            BradleyTerryOptions(prior_sd=wrong)
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        fit_totals("ab", np.zeros((2, 2, 3)), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="one policy or more"):
        fit(compare([]))
