"""Which pair to play next: the criterion against its definition, and what choices follow from it."""

import itertools

import numpy as np
import pytest

from rating.stats import bradley_terry
from rating.stats.bradley_terry import ELO_PER_NAT, BradleyTerryOptions
from rating.stats.design import Design


def results(size, seed=0, games=6):
    """Sums of scores and games of every pair on both seats, by strengths that fall from policy to policy."""
    rng = np.random.default_rng(seed)
    met = rng.integers(1, games, (size, size)).astype(float)
    np.fill_diagonal(met, 0)
    lead = 0.4 * (np.arange(size)[None, :] - np.arange(size)[:, None])
    return rng.binomial(met.astype(int), 1 / (1 + np.exp(-lead))).astype(float), met


def designed(size=5, **options):
    design = Design(size, refit_prior=10**9, **options)
    design.add(*results(size))
    return design


def criterion(design, covariance):
    """The weighted order uncertainty summed over all pairs, weights as before the games; slowly, from the definition."""
    x, before, total = design.strengths, design.covariance, 0.0
    for i, j in itertools.combinations(range(len(x)), 2):
        variance, after = (s[i, i] + s[j, j] - 2 * s[i, j] for s in (before, covariance))
        z = (x[i] - x[j]) / np.sqrt(variance)
        total += after / (variance * (1 + z**2) ** 2)
    return total


def test_design_posterior_matches_the_fit():
    design = designed()
    fitted = bradley_terry.fit_totals(tuple("abcde"), *results(5), BradleyTerryOptions(prior_sd=418.0))
    assert design.strengths * ELO_PER_NAT + 1000 == pytest.approx(fitted.ratings, abs=1e-6)
    centred = design.covariance - design.covariance.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    assert centred * ELO_PER_NAT**2 == pytest.approx(fitted.covariance, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seat_term", [True, False])
def test_design_gains_match_the_criterion(seat_term):
    design = designed(seat_term=seat_term)
    gains, v = design.gains(), design.covariance
    before = criterion(design, v)
    options = BradleyTerryOptions(prior_sd=418.0, seat_term=seat_term)
    seat = bradley_terry.fit_totals(tuple("abcde"), *results(5), options).seat_advantage / ELO_PER_NAT
    assert (seat != 0) == seat_term
    for i, j in itertools.combinations(range(5), 2):
        # The information of two games with the seats swapped, added to the precision of the strengths.
        d = design.strengths[i] - design.strengths[j]
        p, q = (1 / (1 + np.exp(-lead)) for lead in (d + seat, d - seat))
        u = np.eye(5)[i] - np.eye(5)[j]
        after = np.linalg.inv(np.linalg.inv(v) + (p * (1 - p) + q * (1 - q)) * np.outer(u, u))
        assert gains[[i, j], [j, i]] == pytest.approx(before - criterion(design, after), rel=1e-6)


def test_design_even_gains_ignore_results():
    design, other = designed(), Design(5, refit_prior=10**9)
    games = results(5)[1]
    other.add(games / 3, games)
    gains = design.even_gains()
    assert np.array_equal(gains, other.even_gains())
    precision = np.diag(np.full(5, (ELO_PER_NAT / 418.0) ** 2))
    for i, j in itertools.combinations(range(5), 2):
        u = np.eye(5)[i] - np.eye(5)[j]
        precision += games[[i, j], [j, i]].sum() / 4 * np.outer(u, u)
    for i, j in itertools.combinations(range(5), 2):
        u = np.eye(5)[i] - np.eye(5)[j]
        volume = np.linalg.slogdet(precision + np.outer(u, u) / 2)[1] - np.linalg.slogdet(precision)[1]
        assert gains[[i, j], [j, i]] == pytest.approx(volume, rel=1e-9)


def test_design_noise_share_falls_when_policies_separate():
    def share(spread):
        design, rng = Design(8), np.random.default_rng(2)
        assert design.noise_share() == 1
        lead = spread * (np.arange(8)[None, :] - np.arange(8)[:, None])
        games = 20.0 * (1 - np.eye(8))
        design.add(rng.binomial(games.astype(int), 1 / (1 + np.exp(-lead))), games)
        return float(design.noise_share())

    assert share(0.5) < 0.1 < 0.4 < share(0.0)


def test_design_in_flight_pair_gains_less():
    design = designed()
    before, strengths = design.gains(), design.strengths
    pair = np.zeros((5, 5))
    pair[0, 1] = pair[1, 0] = 20.0
    design.enter(pair)
    assert design.gains()[0, 1] < 0.5 * before[0, 1]
    assert np.array_equal(design.strengths, strengths)
    design.enter(-pair)
    assert np.array_equal(design.gains(), before)


def test_design_prior_is_as_wide_as_the_pool():
    for spread, low, high in ((0.0, 0.0, 60.0), (3.0, 400.0, 900.0)):
        design, rng = Design(12), np.random.default_rng(3)
        lead = spread * (np.arange(12)[None, :] - np.arange(12)[:, None]) / 4
        games = 2.0 * (1 - np.eye(12))
        for _ in range(20):
            design.add(rng.binomial(games.astype(int), 1 / (1 + np.exp(-lead))), games)
            assert np.isfinite(design.strengths).all()
        assert low <= design.prior_sd <= high


def test_design_draw_depends_on_the_seed():
    def choices(seed):
        design = Design(6, seed=seed)
        return [int(design.draw().argmax()) for _ in range(12)]

    assert choices(1) == choices(1) != choices(2)
    assert len(set(choices(1))) > 3  # nothing is known, so all pairs are alike


def test_design_stacked_matches_single():
    both = Design(5, shape=(2,))
    for seed in (0, 1):
        pairs = [results(5, seed), results(5, seed + 2)]
        both.add(np.stack([wins for wins, _ in pairs]), np.stack([games for _, games in pairs]))
    for index in (0, 2):
        alone = Design(5)
        for seed in (0, 1):
            alone.add(*results(5, seed + index))
        assert both.strengths[index // 2] == pytest.approx(alone.strengths, abs=1e-6)


def test_design_one_policy_is_refused():
    with pytest.raises(ValueError, match="expected two policies or more"):
        Design(1)
